import HeartwoodFoundation
import HeartwoodStore

/// Builds a keyed archive object by object, as ``KeyedArchiveWriter`` does, but directly in the bytes of the file: for
/// archives of many objects.
struct ArchiveObjectWriter: ~Copyable {
  private var buffer: PropertyListObjectBuffer
  /// The number in the property list of each object of the archive.
  private var objects: [Int] = []
  /// The number in the property list of the reference to each object of the archive; -1 until there is one.
  private var references: [Int] = []
  private let referenceWidth: Int
  private var classes: [ArchivedClass: Int] = [:]
  private var texts: [String: Int] = [:]
  private var keys: [String: Int] = [:]
  private var integers: [Int64: Int] = [:]

  /// The greatest number of integers that are kept to be referred to again.
  private static let mostIntegers = 1 << 20

  /// - Parameter mostObjects: No fewer than the property list will have.
  init(mostObjects: Int) {
    referenceWidth = PropertyListObjectBuffer.referenceWidth(mostObjects)
    buffer = PropertyListObjectBuffer(firstNumber: 0, referenceWidth: referenceWidth, capacity: 1 << 16)
    _ = add(buffer.append(string: "$null"))
  }

  /// The number of objects that the property list has so far.
  var count: Int { buffer.count }

  // MARK: Objects

  private mutating func add(_ number: Int) -> Int {
    objects.append(number)
    references.append(-1)
    return objects.count - 1
  }

  /// Reserves a number for an object that others refer to before it is written.
  mutating func reserve() -> Int { add(-1) }

  /// Returns a reference to an object of the archive, as a value of the property list.
  mutating func reference(_ object: Int) -> Int {
    if references[object] < 0 { references[object] = buffer.append(archiveReference: object) }
    return references[object]
  }

  private mutating func key(_ name: String) -> Int {
    if let number = keys[name] { return number }
    let number = buffer.append(string: name)
    keys[name] = number
    return number
  }

  private mutating func reference(to type: ArchivedClass) -> Int {
    if let object = classes[type] { return reference(object) }
    let names = ([type.name] + type.ancestors).map { key($0) }
    let members = [(key("$classname"), key(type.name)), (key("$classes"), buffer.append(array: names))]
    let object = add(buffer.append(dictionary: members.map { (key: $0.0, value: $0.1) }))
    classes[type] = object
    return reference(object)
  }

  /// Adds an object of a class; its members are values of the property list.
  mutating func instance(
    _ type: ArchivedClass,
    _ members: [(name: String, value: Int)],
    at reserved: Int? = nil
  ) -> Int {
    let classReference = reference(to: type)
    var all = members.map { (key: key($0.name), value: $0.value) }
    all.append((key: key("$class"), value: classReference))
    let number = buffer.append(dictionary: all)
    guard let reserved else { return add(number) }
    objects[reserved] = number
    return reserved
  }

  /// Adds an array or a set of objects of the archive.
  mutating func list(_ type: ArchivedClass, _ items: [Int]) -> Int {
    let values = items.map { reference($0) }
    return instance(type, [(CoreDataBinaryWords.objects, buffer.append(array: values))])
  }

  /// Adds a dictionary of objects of the archive.
  mutating func dictionary(
    _ type: ArchivedClass,
    _ members: [(key: Int, value: Int)],
    at reserved: Int? = nil
  ) -> Int {
    let names = members.map { reference($0.key) }
    let values = members.map { reference($0.value) }
    return instance(
      type,
      [
        (CoreDataBinaryWords.keys, buffer.append(array: names)),
        (CoreDataBinaryWords.objects, buffer.append(array: values)),
      ],
      at: reserved
    )
  }

  // MARK: Values

  /// Adds a text that the archive contains only once, however often it is used.
  mutating func name(_ text: String) -> Int {
    if let object = texts[text] { return object }
    let object = add(buffer.append(string: text))
    texts[text] = object
    return object
  }

  mutating func text(_ bytes: UnsafeRawBufferPointer) -> Int { add(buffer.append(text: bytes)) }

  mutating func data(_ bytes: UnsafeRawBufferPointer) -> Int { add(buffer.append(data: bytes)) }

  mutating func integer(_ number: Int64) -> Int {
    if let object = integers[number] { return object }
    let object = add(buffer.append(integer: number))
    if integers.count < Self.mostIntegers { integers[number] = object }
    return object
  }

  mutating func boolean(_ flag: Bool) -> Int { add(buffer.append(boolean: flag)) }
  mutating func double(_ number: Double) -> Int { add(buffer.append(double: number)) }
  mutating func float(_ number: Float) -> Int { add(buffer.append(float: number)) }

  /// - Parameter seconds: The seconds since 2001-01-01 00:00 UTC.
  mutating func date(_ seconds: Double) -> Int { instance(.date, [("NS.time", buffer.append(double: seconds))]) }

  /// Adds a value that is stored in an object itself.
  mutating func inline(_ value: ArchiveValue) -> Int {
    switch value {
    case .null: return buffer.appendNull()
    case .boolean(let flag): return buffer.append(boolean: flag)
    case .integer(let number): return buffer.append(integer: number)
    case .real(let number): return buffer.append(double: number)
    case .date(let date): return buffer.append(date: date.timeIntervalSinceReferenceDate)
    case .string(let text): return buffer.append(string: text)
    case .data(let data): return data.withUnsafeBytes { buffer.append(data: $0) }
    case .reference(let object): return reference(object)
    case .array(let values):
      var numbers: [Int] = []
      for value in values { numbers.append(inline(value)) }
      return buffer.append(array: numbers)
    case .dictionary(let members):
      var numbers: [(key: Int, value: Int)] = []
      for (name, value) in members.sorted(by: { $0.key < $1.key }) { numbers.append((key(name), inline(value))) }
      return buffer.append(dictionary: numbers)
    }
  }

  /// Adds all objects of another archive; returns the number of its root.
  mutating func embed(_ objects: [ArchiveValue], root: Int) -> Int {
    // The first object is the null in every archive.
    let numbers = [0] + objects.dropFirst().map { _ in reserve() }
    for (index, value) in objects.enumerated().dropFirst() {
      self.objects[numbers[index]] = inline(Self.renumbered(value, numbers))
    }
    return numbers[root]
  }

  private static func renumbered(_ value: ArchiveValue, _ numbers: [Int]) -> ArchiveValue {
    switch value {
    case .reference(let number): .reference(numbers.indices.contains(number) ? numbers[number] : 0)
    case .array(let values): .array(values.map { renumbered($0, numbers) })
    case .dictionary(let members): .dictionary(members.mapValues { renumbered($0, numbers) })
    default: value
    }
  }

  // MARK: The whole

  /// Returns the archive, with the values under each key; nil if it has more bytes than a property list is written
  /// with.
  ///
  /// - Parameter roots: Values of the property list.
  consuming func bytes(roots: [(key: String, value: Int)]) -> [UInt8]? {
    let top = buffer.append(dictionary: roots.map { (key: key($0.key), value: $0.value) })
    let all = buffer.append(array: objects)
    let root = buffer.append(dictionary: [
      (key: key("$version"), value: buffer.append(integer: KeyedArchiveWriter.version)),
      (key: key("$objects"), value: all),
      (key: key("$archiver"), value: key(KeyedArchive.archiver)),
      (key: key("$top"), value: top),
    ])
    guard !buffer.isTooLong else { return nil }
    return PropertyListData.file(buffer.sealed(), root: root, referenceWidth: referenceWidth)
  }
}

/// Puts together a graph of objects as `NSKeyedArchiver` lays it out in a property list: a list of objects that lead to each other by
/// number.
struct KeyedArchiveWriter {
  private static let version: Int64 = 100_000

  private var objects: [ArchiveValue] = [.string("$null")]
  private var texts: [String: Int] = [:]
  private var classes: [ArchivedClass: Int] = [:]

  // MARK: Objects

  /// Takes a number for an object that others lead to before it is put together.
  mutating func reserve() -> Int {
    objects.append(.null)
    return objects.count - 1
  }

  /// Puts an object together whose number is taken already.
  mutating func set(_ number: Int, _ type: ArchivedClass, _ members: [String: ArchiveValue]) {
    var members = members
    members["$class"] = reference(to: type)
    objects[number] = .dictionary(members)
  }

  mutating func object(_ type: ArchivedClass, _ members: [String: ArchiveValue]) -> ArchiveValue {
    let number = reserve()
    set(number, type, members)
    return .reference(number)
  }

  /// A value that is an object by itself.
  mutating func value(_ value: ArchiveValue) -> ArchiveValue {
    objects.append(value)
    return .reference(objects.count - 1)
  }

  /// A text. Equal texts are one object.
  mutating func text(_ text: String) -> ArchiveValue {
    if let number = texts[text] { return .reference(number) }
    texts[text] = objects.count
    return value(.string(text))
  }

  mutating func text(_ text: String?) -> ArchiveValue {
    guard let text else { return .nothing }
    return self.text(text)
  }

  /// An array or a set.
  mutating func list(_ type: ArchivedClass, _ items: [ArchiveValue]) -> ArchiveValue {
    object(type, ["NS.objects": .array(items)])
  }

  mutating func dictionary(
    _ type: ArchivedClass,
    _ members: [(key: String, value: ArchiveValue)]
  ) -> ArchiveValue {
    let keys = members.map { text($0.key) }
    return object(type, ["NS.keys": .array(keys), "NS.objects": .array(members.map(\.value))])
  }

  private mutating func reference(to type: ArchivedClass) -> ArchiveValue {
    if let number = classes[type] { return .reference(number) }
    classes[type] = objects.count
    let names = ([type.name] + type.ancestors).map(ArchiveValue.string)
    return value(.dictionary(["$classname": .string(type.name), "$classes": .array(names)]))
  }

  // MARK: The whole

  /// The archive of the object that `root` leads to, as a binary property list: the same bytes for the same objects.
  func bytes(root: ArchiveValue) -> [UInt8] {
    ArchiveEncoder.binary(
      .dictionary([
        "$archiver": .string(KeyedArchive.archiver), "$version": .integer(Self.version),
        "$top": .dictionary(["root": root]), "$objects": .array(objects),
      ])
    )
  }
}

extension ArchiveValue {
  /// The reference that leads nowhere.
  static let nothing = ArchiveValue.reference(0)
}

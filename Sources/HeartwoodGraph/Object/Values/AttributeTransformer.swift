public import HeartwoodFoundation
public import HeartwoodModel
import Synchronization

/// Turns values of an application's type into the bytes that a transformable attribute keeps, and back: what Core Data knows as a
/// `ValueTransformer`.
///
/// A model names the transformer of an attribute; the application registers it under that name before it uses the attribute:
///
///     AttributeTransformers.register(ColorTransformer(), forName: "ColorTransformer")
public protocol AttributeTransformer<Value>: Sendable {
  /// The type of the application's.
  associatedtype Value

  /// The bytes that stand for a value: always the same, so that equal values are equal in a store.
  func data(from value: Value) throws -> Data

  /// The value that bytes stand for.
  func value(from data: Data) throws -> Value
}

/// The transformers of the process, by the names that models give.
public enum AttributeTransformers {
  private static let registered = Mutex<[String: any AttributeTransformer]>([:])

  /// Makes a transformer known under a name, in the place of one that had it.
  public static func register(_ transformer: some AttributeTransformer, forName name: String) {
    registered.withLock { $0[name] = transformer }
  }

  /// The transformer that is registered under a name; nil where none is.
  public static func transformer(forName name: String) -> (any AttributeTransformer)? {
    registered.withLock { $0[name] }
  }

  /// The names under which transformers are registered, sorted.
  public static var names: [String] { registered.withLock { $0.keys.sorted() } }
}

extension ManagedObject {
  /// The value of a transformable attribute, made by the transformer that the model names; nil where there is none, or where the bytes
  /// stand for none: that is among the context's ``ManagedObjectContext/readFailures``, ``read(_:)-(TransformedKey<Value>)`` throws it, and
  /// ``propertyValue(forKey:)`` gives the bytes.
  ///
  /// Each read transforms anew: keep the value where it is needed often. A value that the transformer refuses reads as none, and the save
  /// fails with ``PersistenceError/Code/validationFailed`` until another is set. A name under which nothing of this type is registered is a
  /// mistake that stops the process.
  public final subscript<Value>(key: TransformedKey<Value>) -> Value? {
    get {
      guard case .binary(let data) = attributeValue(key, fits: Data.fits) else { return nil }
      do {
        return try transformer(for: key).value(from: data)
      } catch {
        noteUnreadableValue(key, error)
        return nil
      }
    }
    set {
      guard let newValue else { return setAttribute(key, .null, fits: Data.fits) }
      // try?: a value that cannot be transformed is kept as one that no save takes.
      let data = try? transformer(for: key).data(from: newValue)
      setAttribute(key, data.map(PropertyValue.binary) ?? .unencodable(Value.self), fits: Data.fits)
    }
  }

  private final func transformer<Value>(for key: TransformedKey<Value>) -> any AttributeTransformer<Value> {
    guard let name = entity.property(named: key.name)?.attribute?.valueTransformerName else {
      Misuse.stop("\(entity.name).\(key.name) names no transformer. Name one in the model.")
    }
    guard let transformer = AttributeTransformers.transformer(forName: name) as? any AttributeTransformer<Value> else {
      Misuse.stop(
        "No transformer of \(Value.self) is registered as \(name). Call AttributeTransformers.register(_:forName:)."
      )
    }
    return transformer
  }
}

// MARK: CodableAttributeValue

/// A type of the application's own that a transformable (or binary) attribute keeps as JSON.
///
///     struct Place: CodableAttributeValue {
///       var latitude = 0.0
///       var longitude = 0.0
///       static let absentValue = Place()
///     }
///     static let placeKey = AttributeKey<Place?>("place")
///
/// The JSON has sorted keys, so equal values have equal bytes. Each read decodes it: keep the value where it is needed often. What
/// cannot be decoded, since a newer version of the application has written it, reads as no value: that is among the context's
/// ``ManagedObjectContext/readFailures``, ``ManagedObject/read(_:)-(AttributeKey<Value>)`` throws it, and
/// ``ManagedObject/propertyValue(forKey:)`` gives the bytes. A value that cannot be encoded reads as no value, and the save fails with
/// ``PersistenceError/Code/validationFailed`` until another is set.
public protocol CodableAttributeValue: AttributeValue, Codable {}

extension CodableAttributeValue {
  /// Whether the attribute keeps bytes.
  public static func fits(_ type: AttributeType) -> Bool { Data.fits(type) }

  /// The value as JSON.
  public var propertyValue: PropertyValue {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    encoder.nonConformingFloatEncodingStrategy = .convertToString(
      positiveInfinity: Self.infinity,
      negativeInfinity: "-" + Self.infinity,
      nan: Self.nan
    )
    // try?: a value that cannot be encoded is kept as one that no save takes.
    return (try? encoder.encode(self)).map(PropertyValue.binary) ?? .unencodable(Self.self)
  }

  /// Makes a value of JSON; nil where there is none, or it is of another form.
  public init?(propertyValue: PropertyValue) {
    // try?: nil says that it is of another form.
    guard let data = Data(propertyValue: propertyValue), let value = try? Self.decoded(data) else { return nil }
    self = value
  }

  private static func decoded(_ data: Data) throws -> Self {
    let decoder = JSONDecoder()
    decoder.nonConformingFloatDecodingStrategy = .convertFromString(
      positiveInfinity: Self.infinity,
      negativeInfinity: "-" + Self.infinity,
      nan: Self.nan
    )
    return try decoder.decode(Self.self, from: data)
  }

  /// Reads the attribute of `key`; nil where it has no value, or one that cannot be decoded.
  public static func readIfPresent(_ key: PropertyKey, of object: ManagedObject) -> Self? {
    guard let data = Data.readIfPresent(key, of: object) else { return nil }
    do {
      return try decoded(data)
    } catch {
      object.noteUnreadableValue(key, error)
      return nil
    }
  }

  private static var infinity: String { "Infinity" }
  private static var nan: String { "NaN" }
}

extension PropertyValue {
  /// What stands for a value that cannot be turned into bytes. It fits no attribute that keeps bytes, so validation finds it.
  static func unencodable(_ type: Any.Type) -> PropertyValue { .string("\(type)") }
}

public import HeartwoodFoundation
public import HeartwoodModel
import Synchronization

/// Converts values of an application's type to the bytes that a transformable attribute stores, and back, like Core
/// Data's `ValueTransformer`.
///
/// A model names the transformer of an attribute; the application registers it under that name before it uses the
/// attribute:
///
///     AttributeTransformers.register(ColorTransformer(), forName: "ColorTransformer")
public protocol AttributeTransformer<Value>: Sendable {
  /// The application's type.
  associatedtype Value

  /// Returns the bytes of a value: always the same, so that equal values are equal in a store.
  func data(from value: Value) throws -> Data

  /// Returns the value of bytes.
  func value(from data: Data) throws -> Value
}

/// The transformers of the process, by the names that models use.
public enum AttributeTransformers {
  private static let registered = Mutex<[String: any AttributeTransformer]>([:])

  /// Registers a transformer under a name, replacing the former one of that name.
  public static func register(_ transformer: some AttributeTransformer, forName name: String) {
    registered.withLock { $0[name] = transformer }
  }

  /// Returns the transformer that is registered under a name; nil if there is none.
  public static func transformer(forName name: String) -> (any AttributeTransformer)? {
    registered.withLock { $0[name] }
  }

  /// The names under which transformers are registered, sorted.
  public static var names: [String] { registered.withLock { $0.keys.sorted() } }
}

extension ManagedObject {
  /// The value of a transformable attribute, converted by the transformer that the model names; nil if it has no value,
  /// or if the transformer rejects the bytes: then the error is added to the context's
  /// ``ManagedObjectContext/readFailures``, ``read(_:)-(TransformedKey<Value>)`` throws it, and
  /// ``propertyValue(forKey:)`` returns the bytes.
  ///
  /// Each read converts the bytes again: store the value if you need it often. A value that the transformer rejects
  /// reads as nil, and saving fails with ``PersistenceError/Code/validationFailed`` until another one is set.
  ///
  /// - Precondition: a transformer for this type is registered under the name.
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
      // try?: a value that cannot be converted is stored as one that no save accepts.
      let data = try? transformer(for: key).data(from: newValue)
      setAttribute(key, data.map(PropertyValue.binary) ?? .unencodable(Value.self), fits: Data.fits)
    }
  }

  private final func transformer<Value>(for key: TransformedKey<Value>) -> any AttributeTransformer<Value> {
    guard let name = entity.property(named: key.name)?.attribute?.valueTransformerName else {
      ProgrammerError.stop("\(entity.name).\(key.name) names no transformer. Name one in the model.")
    }
    guard let transformer = AttributeTransformers.transformer(forName: name) as? any AttributeTransformer<Value> else {
      ProgrammerError.stop(
        "No transformer of \(Value.self) is registered as \(name). Call AttributeTransformers.register(_:forName:)."
      )
    }
    return transformer
  }
}

// MARK: CodableAttributeValue

/// An application's type that a transformable (or binary) attribute stores as JSON.
///
///     struct Place: CodableAttributeValue {
///       var latitude = 0.0
///       var longitude = 0.0
///       static let absentValue = Place()
///     }
///     static let placeKey = AttributeKey<Place?>("place")
///
/// The JSON has sorted keys, so equal values have equal bytes. Each read decodes it: store the value if you need it
/// often. If it cannot be decoded, for example because a newer version of the application has written it, it reads as
/// no value: the error is added to the context's ``ManagedObjectContext/readFailures``,
/// ``ManagedObject/read(_:)-(AttributeKey<Value>)`` throws it, and ``ManagedObject/propertyValue(forKey:)`` returns the
/// bytes. A value that cannot be encoded reads as no value, and saving fails with
/// ``PersistenceError/Code/validationFailed`` until another one is set.
public protocol CodableAttributeValue: AttributeValue, Codable {}

extension CodableAttributeValue {
  /// Returns whether attributes of `type` store bytes.
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
    // try?: a value that cannot be encoded is stored as one that no save accepts.
    return (try? encoder.encode(self)).map(PropertyValue.binary) ?? .unencodable(Self.self)
  }

  /// Creates a value from JSON; nil if there is none, or if it has another structure.
  public init?(propertyValue: PropertyValue) {
    // try?: nil means that it has another structure.
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

  /// Reads the attribute of `key`; nil if it has no value, or one that cannot be decoded.
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
  /// Returns the placeholder for a value that cannot be converted to bytes. It fits no attribute that stores bytes, so
  /// validation detects it.
  static func unencodable(_ type: Any.Type) -> PropertyValue { .string("\(type)") }
}

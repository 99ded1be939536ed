public import HeartwoodFoundation
import Synchronization

/// The name of one object: the store that keeps it, its entity, and what the store calls the record.
///
/// It is Sendable, so it is what travels between contexts in place of the object. Comparing and hashing two of them is O(1)
/// but for references that are strings.
public struct ManagedObjectID: Sendable {
  @usableFromInline
  package let scope: ObjectIDScope
  /// What the store calls the record. For a temporary id, a number that means nothing to any store.
  public let reference: ReferenceID

  @inlinable
  package init(scope: ObjectIDScope, reference: ReferenceID) {
    self.scope = scope
    self.reference = reference
  }

  /// Makes a new id for an object that no store has seen yet, different from every other in this process.
  package static func temporary(in scope: ObjectIDScope) -> ManagedObjectID {
    precondition(scope.storeIdentifier == nil, "A temporary id belongs to no store.")
    let number = nextTemporaryNumber.wrappingAdd(1, ordering: .relaxed).newValue
    return ManagedObjectID(scope: scope, reference: .integer(number))
  }

  private static let nextTemporaryNumber = Atomic<Int64>(0)
}

extension ManagedObjectID {
  /// The entity of the object.
  public var entity: EntityDescription { scope.entity }

  /// The identifier of the store that keeps the object, or nil for a temporary id.
  public var storeIdentifier: UUID? { scope.storeIdentifier }

  /// Whether the object has not been saved yet. A save replaces the id with a permanent one.
  public var isTemporaryID: Bool { scope.storeIdentifier == nil }

  /// The id as a URI that outlives the process: `x-coredata://<store UUID>/<Entity>/<reference>`.
  ///
  /// A temporary id has no store and a reference that begins with `t`; nothing can be looked up by it.
  public func uriRepresentation() -> URL {
    ObjectURI(storeIdentifier: storeIdentifier, entityName: entity.name, reference: reference).url
  }
}

extension ManagedObjectID: Hashable {
  /// Whether both name the same record, or the same new object.
  public static func == (left: ManagedObjectID, right: ManagedObjectID) -> Bool {
    left.reference == right.reference && (left.scope === right.scope || left.scope.names(sameRecordsAs: right.scope))
  }

  /// Hashes the reference, and with it the entity unless it is a UUID: a store that numbers the records of each entity from 1 gives many the
  /// same reference.
  public func hash(into hasher: inout Hasher) {
    switch reference {
    // One word is hashed as quickly as the number alone.
    case .integer(let number): hasher.combine(number ^ Int64(truncatingIfNeeded: scope.entityHash))
    case .uuid(let uuid): hasher.combine(uuid)
    case .string:
      hasher.combine(scope.entityHash)
      hasher.combine(reference)
    }
  }
}

extension ManagedObjectID: CustomStringConvertible {
  /// The URI.
  public var description: String { uriRepresentation().absoluteString }
}

/// What the ids of one entity's records in one store have in common.
///
/// One is made for each entity of an open store (and of a context, for its new objects), so that an id is a pointer and a
/// reference.
@usableFromInline
package final class ObjectIDScope: Sendable {
  /// Nil for the temporary ids of new objects.
  package let storeIdentifier: UUID?
  package let entity: EntityDescription
  /// The hash of the entity's name: the same in all scopes whose ids may be equal.
  let entityHash: Int

  package init(storeIdentifier: UUID?, entity: EntityDescription) {
    self.storeIdentifier = storeIdentifier
    self.entity = entity
    self.entityHash = entity.name.hashValue
  }

  /// Whether both scopes name the records of the same entity in the same store, though they were made apart.
  func names(sameRecordsAs other: ObjectIDScope) -> Bool {
    storeIdentifier == other.storeIdentifier && entity.name == other.entity.name
  }
}

// MARK: ObjectURI

/// The parts of the URI of an object: `x-coredata://<store UUID>/<Entity>/<reference>`.
public struct ObjectURI: Sendable, Hashable {
  /// The scheme of every object URI.
  public static let scheme = "x-coredata"

  /// The store that keeps the object, or nil where the object has not been saved.
  public var storeIdentifier: UUID?
  /// The name of the object's entity.
  public var entityName: String
  /// What the store calls the record.
  public var reference: ReferenceID

  /// The URI of the record that `reference` names.
  public init(storeIdentifier: UUID?, entityName: String, reference: ReferenceID) {
    self.storeIdentifier = storeIdentifier
    self.entityName = entityName
    self.reference = reference
  }
}

extension ObjectURI {
  /// The parts of `url`, or nil where it is not the URI of a saved object.
  public init?(_ url: URL) {
    self.init(text: url.absoluteString)
  }

  /// The parts of the URI `text`, or nil where it is not the URI of a saved object.
  public init?(text: String) {
    guard text.hasPrefix(Self.scheme + "://") else { return nil }
    let parts = text.dropFirst(Self.scheme.count + 3).split(separator: "/", omittingEmptySubsequences: false)
    guard parts.count == 3, let store = UUID(uuidString: String(parts[0])),
      let entity = Self.decoded(parts[1]), !entity.isEmpty, let reference = Self.decoded(parts[2])
    else { return nil }
    self.init(storeIdentifier: store, entityName: entity, reference: ReferenceID(text: reference))
  }

  /// The URI as text.
  public var text: String {
    let store = storeIdentifier?.uuidString ?? ""
    let prefix = storeIdentifier == nil ? "t" : ""
    return "\(Self.scheme)://\(store)/\(Self.encoded(entityName))/\(prefix)\(Self.encoded(reference.text))"
  }

  /// The URI.
  public var url: URL {
    guard let url = URL(string: text) else {
      preconditionFailure("The URI of an object holds nothing but characters that a URI may hold.")
    }
    return url
  }

  /// `text` with every byte that RFC 3986 does not call unreserved percent-encoded.
  private static func encoded(_ text: String) -> String {
    var bytes: [UInt8] = []
    for byte in text.utf8 {
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
        UInt8(ascii: "~"):
        bytes.append(byte)
      default:
        bytes += [UInt8(ascii: "%"), HexadecimalDigit.capital(byte >> 4), HexadecimalDigit.capital(byte & 15)]
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// The text that the percent-encoded `text` stands for, or nil where it is not well formed UTF-8.
  private static func decoded(_ text: Substring) -> String? {
    HexadecimalDigit.unescaped(text.utf8, behind: UInt8(ascii: "%")).flatMap { String(validating: $0, as: UTF8.self) }
  }
}

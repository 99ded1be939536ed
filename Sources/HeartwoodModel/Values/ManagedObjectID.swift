public import HeartwoodFoundation
import Synchronization

/// Identifies one object: by its store, its entity, and the store's reference for the record.
///
/// An id is Sendable, so contexts exchange ids instead of objects. Its URI outlives the process:
///
///     let url = id.uriRepresentation()
///     // x-coredata://6F9619FF-8B86-D011-B42D-00C04FC964FF/ToDo/12
///
/// A new object has a temporary id until it is saved. Comparing and hashing ids is O(1) unless their references are
/// strings.
public struct ManagedObjectID: Sendable {
  @usableFromInline
  package let scope: ObjectIDScope
  /// The store's reference for the record. A temporary id has a number that is unknown to any store.
  public let reference: ReferenceID

  @inlinable
  package init(scope: ObjectIDScope, reference: ReferenceID) {
    self.scope = scope
    self.reference = reference
  }

  /// Makes a temporary id for a new object, different from every other temporary id in this process.
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

  /// The identifier of the store that keeps the object; nil for a temporary id.
  public var storeIdentifier: UUID? { scope.storeIdentifier }

  /// Whether the object has not been saved yet. A save replaces the id by a permanent one.
  public var isTemporaryID: Bool { scope.storeIdentifier == nil }

  /// Returns the id as a URI that outlives the process: `x-coredata://<store UUID>/<Entity>/<reference>`.
  ///
  /// The URI of a temporary id has no store, and its reference begins with `t`. No object can be found by it:
  /// ``ObjectURI`` does not read it.
  public func uriRepresentation() -> URL {
    ObjectURI(storeIdentifier: storeIdentifier, entityName: entity.name, reference: reference).url
  }
}

extension ManagedObjectID: Hashable {
  /// Returns whether both ids identify the same record, or the same new object.
  public static func == (left: ManagedObjectID, right: ManagedObjectID) -> Bool {
    left.reference == right.reference && (left.scope === right.scope || left.scope.names(sameRecordsAs: right.scope))
  }

  /// Hashes the reference and, unless it is a UUID, the entity: a store that numbers the records of each entity from 1
  /// gives the same reference to records of many entities.
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
/// One instance is made for each entity of an open store (and of a context, for its new objects), so that an id is only
/// a pointer and a reference.
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

  /// Returns whether both scopes have the same entity and the same store. They may be separate instances.
  func names(sameRecordsAs other: ObjectIDScope) -> Bool {
    storeIdentifier == other.storeIdentifier && entity.name == other.entity.name
  }
}

// MARK: ObjectURI

/// The parts of the URI of an object: `x-coredata://<store UUID>/<Entity>/<reference>`.
public struct ObjectURI: Sendable, Hashable {
  /// The scheme of every object URI.
  public static let scheme = "x-coredata"

  /// The identifier of the store that keeps the object; nil if the object has not been saved.
  public var storeIdentifier: UUID?
  /// The name of the object's entity.
  public var entityName: String
  /// The store's reference for the record.
  public var reference: ReferenceID

  /// Makes the URI of the record that `reference` identifies.
  public init(storeIdentifier: UUID?, entityName: String, reference: ReferenceID) {
    self.storeIdentifier = storeIdentifier
    self.entityName = entityName
    self.reference = reference
  }
}

extension ObjectURI {
  /// Parses `url`. Returns nil if it is not the URI of a saved object.
  public init?(_ url: URL) {
    self.init(text: url.absoluteString)
  }

  /// Parses `text`. Returns nil if it is not the URI of a saved object.
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

  /// The URI as a `URL`.
  public var url: URL {
    guard let url = URL(string: text) else {
      preconditionFailure("The URI of an object holds nothing but characters that a URI may hold.")
    }
    return url
  }

  /// Returns `text` with percent-encoding for every byte that RFC 3986 does not list as unreserved.
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

  /// Returns `text` without percent-encoding, or nil if it is not well-formed UTF-8.
  private static func decoded(_ text: Substring) -> String? {
    HexadecimalDigit.unescaped(text.utf8, behind: UInt8(ascii: "%")).flatMap { String(validating: $0, as: UTF8.self) }
  }
}

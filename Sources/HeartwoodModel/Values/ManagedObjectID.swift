import Synchronization

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

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

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// Everything that is wrong with the definitions of a model.
public struct ModelValidationError: Error, Sendable, Hashable {
  /// At least one fault, in the order of the definitions.
  public let faults: [ModelFault]
}

/// One thing that is wrong with the definitions of a model.
public struct ModelFault: Sendable, Hashable {
  /// Where: an entity (`ToDo`), a property (`ToDo.memo`) or a configuration (`configuration Cloud`).
  public let path: String
  /// What is wrong and what to do.
  public let message: String
  /// Where, by number: for readers that know the line of each definition.
  package let location: Location

  package enum Location: Sendable, Hashable {
    case entity(Int)
    case property(entity: Int, index: Int)
    case uniquenessConstraint(entity: Int, index: Int)
    case fetchIndex(entity: Int, index: Int)
    case fetchedProperty(entity: Int, index: Int)
    case configuration(String)
    case fetchRequest(Int)
  }
}

extension ModelFault: CustomStringConvertible {
  /// The path and the message.
  public var description: String { "\(path): \(message)" }
}

extension ModelValidationError: LocalizedError {
  /// The description.
  public var errorDescription: String? { description }
}

extension ModelValidationError: CustomStringConvertible {
  /// All faults, one a line.
  public var description: String {
    let summary = faults.count == 1 ? "The model has a fault:" : "The model has \(faults.count) faults:"
    return ([summary] + faults.map { "  \($0)" }).joined(separator: "\n")
  }
}

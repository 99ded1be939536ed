#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

extension PredicateCompiler {
  /// The plan of `expression`, whose value is to become that of an attribute of `type`.
  ///
  /// - Throws: ``FetchPredicateError`` with the place of the mistake in the expression as text.
  package static func compile(
    _ expression: FetchExpression,
    for type: AttributeType,
    of entity: EntityDescription,
    in model: ManagedObjectModel
  ) throws(FetchPredicateError) -> PlanExpression {
    var compiler = PredicateCompiler(entity, model, now: Date())
    do throws(Fault) {
      let (plan, kind) = try compiler.compile(expression)
      if kind.element == nil, kind.goesWith(PlanKind(type)) { return plan }
      throw compiler.fault(.typeMismatch, "This is \(kind.title), and the attribute is of type \(type.rawValue).")
    } catch {
      throw FetchPredicateError(error) { $0.write(expression) }
    }
  }
}

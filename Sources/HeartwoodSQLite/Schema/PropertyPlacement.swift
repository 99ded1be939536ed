/// Where a property of an entity is kept in a file.
package enum PropertyPlacement: Sendable, Hashable {
  case attribute(AttributePlacement)
  case toOne(ToOnePlacement)
  case toMany(ToManyPlacement)
  case join(JoinPlacement)
}

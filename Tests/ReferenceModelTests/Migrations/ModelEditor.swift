import Foundation
import Heartwood
import HeartwoodTesting

/// Makes a model at random, and changes it as people do from version to version.
struct ModelEditor {
  var draft = ModelDraft()
  /// What the model was before the changes.
  private(set) var former = ModelDraft()
  var generator: SeededGenerator
  /// Whether there is one entity only, as a text file keeps it.
  let isTable: Bool
  /// Whether an object can be in one to-many relationship without inverse only, as in a database.
  let isDatabase: Bool
  /// What was done since the version before.
  private(set) var edits: [String] = []
  /// Why nothing can be inferred; nil where all can.
  var obstacle: String?
  private var lastName = 0

  init(_ generator: SeededGenerator, isTable: Bool, isDatabase: Bool) {
    (self.generator, self.isTable, self.isDatabase) = (generator, isTable, isDatabase)
    let count = isTable ? 1 : number(3...6)
    for _ in 0..<count {
      let above = draft.entities.filter { draft.lineage($0.id).count < 3 }.map(\.id)
      addEntity(parent: chance(2) ? pick(above) : nil, isAbstract: above.isEmpty ? false : nil)
    }
    for entity in draft.entities { for _ in 0..<number(1...4) { addAttribute(to: entity.id) } }
    for _ in 0..<number(1...5) { _ = addLink() }
  }

  /// Makes a new version of the model, which the old one leads to by inference unless there is an obstacle.
  mutating func makeVersion() throws {
    draft.beginVersion()
    former = draft
    (edits, obstacle) = ([], nil)
    forgetIdentifiers()
    if isTable, let property = draft.entities[0].properties.first { edits.append(rename(property, to: newName("p"))) }
    let count = number(1...6)
    var tries = 0
    while edits.count < count, tries < 40, obstacle == nil {
      tries += 1
      let before = draft
      guard let edit = edit(), isAllowed, (try? draft.model()) != nil else {
        (draft, obstacle) = (before, nil)
        continue
      }
      edits.append(edit)
    }
    if obstacle == nil { giveDefaults() }
    // Where two that are alike have swapped their names, stores of the one version are ones of the other.
    if try draft.model().entityVersionHashesByName == former.model().entityVersionHashesByName {
      (draft, edits) = (former, [])
    }
    if chance(4) { draft.entities.shuffle(using: &generator) }
  }

  /// What records would lack that must have it gets a default value.
  private mutating func giveDefaults() {
    for owner in draft.entities {
      for property in owner.properties {
        guard case .attribute(let attribute) = property.kind, !attribute.isOptional, attribute.defaultValue.isNull,
          draft.kinds(of: owner.id).contains(where: { entity in
            former.entity(entity.id) != nil
              && !former.properties(of: entity.id).contains { property.origins.contains($0.id) }
          })
        else { continue }
        let value = value(of: attribute.type)
        draft.changeAttribute(property.id) { $0.defaultValue = value }
      }
    }
  }

  /// Some leave the identifiers of the version before in the model, others take them away.
  private mutating func forgetIdentifiers() {
    for entity in draft.entities {
      if chance(2) { draft.change(entity: entity.id) { $0.identifier = nil } }
      for property in entity.properties where chance(2) { draft.change(property.id) { $0.identifier = nil } }
    }
  }

  private var isAllowed: Bool {
    keepsHierarchies && keepsDestinations && leavesNames && leavesIdentifiers && changesIdentifiers && changesColumns
      && keepsRecords
  }

  /// A text file does not tell its model, but the names of its columns: what still fits is not migrated.
  private var changesColumns: Bool {
    func names(_ draft: ModelDraft) -> Set<String> { Set(draft.entities[0].properties.map(\.name)) }
    return !isTable || names(draft) != names(former)
  }

  private var keepsRecords: Bool {
    draft.entities.contains { !$0.isAbstract && former.entity($0.id)?.isAbstract == false }
  }

  /// What has an identifier that another had is not known to be another one: a swap that is taken back looks as if nothing was changed.
  private var changesIdentifiers: Bool {
    let old = former.entities.flatMap(\.properties)
    let entities = draft.entities.allSatisfy { new in
      new.identifier == nil || !former.entities.contains { $0.id != new.id && $0.identifier == new.identifier }
    }
    let properties = draft.entities.flatMap(\.properties).allSatisfy { new in
      new.identifier == nil || !old.contains { !new.origins.contains($0.id) && $0.identifier == new.identifier }
    }
    return entities && properties
  }

  /// What is new has no name of what was there, unless another has that one's values.
  private var leavesNames: Bool {
    draft.entities.allSatisfy { entity in
      let (before, after) = (former.properties(of: entity.id), draft.properties(of: entity.id))
      return after.filter { new in !before.contains { new.origins.contains($0.id) } }.allSatisfy { new in
        before.filter { $0.name == new.name }.allSatisfy { old in after.contains { $0.origins.contains(old.id) } }
      }
    }
  }

  /// What comes to an entity with its new parent does not say that it was another property of it.
  private var leavesIdentifiers: Bool {
    draft.entities.allSatisfy { entity in
      let before = former.properties(of: entity.id)
      return draft.properties(of: entity.id).allSatisfy { new in
        new.identifier == nil || before.contains { new.origins.contains($0.id) }
          || !before.contains { [$0.name, $0.identifier].contains(new.identifier) }
      }
    }
  }

  /// Relationships lead to what they led to, or to what was above that.
  private var keepsDestinations: Bool {
    draft.links.allSatisfy { _, property, link in
      if isDatabase, link.inverse == nil, link.isToMany, mayBeShared(property) { return false }
      return former.links.filter { property.origins.contains($0.property.id) }.allSatisfy {
        former.isKind($0.link.destination, of: link.destination)
      }
    }
  }

  /// Whether several objects may have led to the same one.
  private func mayBeShared(_ property: ModelDraft.Property) -> Bool {
    former.links.contains { _, other, link in
      guard property.origins.contains(other.id) else { return false }
      let inverse = former.links.first { $0.property.id == link.inverse }
      return inverse.map(\.link.isToMany) ?? !link.isToMany
    }
  }

  /// Entities of several hierarchies do not come into that of one of them.
  private var keepsHierarchies: Bool {
    draft.entities.allSatisfy { entity in
      guard former.entity(entity.id) != nil, let root = draft.lineage(entity.id).first,
        let formerRoot = former.lineage(root.id).first
      else { return true }
      return formerRoot.id == former.lineage(entity.id).first?.id
    }
  }
}

// MARK: Choosing

extension ModelEditor {
  mutating func number(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &generator) }
  mutating func chance(_ times: Int) -> Bool { generator.chance(oneIn: times) }
  mutating func pick<Element>(_ elements: [Element]) -> Element? { elements.randomElement(using: &generator) }

  mutating func newName(_ prefix: String) -> String {
    lastName += 1
    return "\(prefix)\(lastName)"
  }

  mutating func entity() -> ModelDraft.Entity? { pick(draft.entities) }

  mutating func property() -> ModelDraft.Property? { pick(draft.entities.flatMap(\.properties)) }

  mutating func attribute() -> (property: ModelDraft.Property, attribute: ModelDraft.Attribute)? {
    pick(
      draft.entities.flatMap(\.properties).compactMap { property in
        if case .attribute(let attribute) = property.kind { (property, attribute) } else { nil }
      }
    )
  }

  mutating func type() -> AttributeType { pick(AttributeType.allCases) ?? .string }

  /// A value of few, which every store can keep; now and then one that is too large for other types.
  mutating func value(of type: AttributeType) -> PropertyValue {
    let number = Int64(number(0...3))
    switch type {
    case .integer16: return .integer(number)
    case .integer32: return .integer(chance(9) ? 70_000 : number)
    case .integer64: return .integer(chance(9) ? 1 << 40 : number)
    case .decimal: return .decimal(Decimal(number) / 8)
    case .double: return .double(Double(number) / 8)
    case .float: return .float(Float(number) / 8)
    case .string: return .string(["", "a", "1", "12"][Int(number)])
    case .boolean: return .boolean(number > 1)
    case .date: return .date(Date(timeIntervalSinceReferenceDate: Double(number)))
    case .binary, .transformable, .undefined: return .binary(Data(repeating: 7, count: Int(number)))
    case .uuid: return .uuid(UUID(uuid: (UInt8(number), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)))
    case .uri: return URL(string: "https://example.org/\(number)").map(PropertyValue.uri) ?? .null
    }
  }
}

// MARK: Adding

extension ModelEditor {
  @discardableResult
  mutating func addEntity(parent: Int?, isAbstract: Bool? = nil) -> Int {
    let id = draft.newID()
    let isAbstract = isAbstract ?? (!isTable && chance(5))
    draft.entities.append(.init(id: id, name: newName("E"), parent: parent, isAbstract: isAbstract))
    return id
  }

  /// Adds an attribute, which has a default value where it is required.
  @discardableResult
  mutating func addAttribute(to entity: Int, name: String? = nil) -> Int {
    let id = draft.newID()
    var attribute = ModelDraft.Attribute(type: type())
    if chance(2) { attribute.defaultValue = value(of: attribute.type) }
    attribute.isOptional = attribute.defaultValue.isNull || chance(2)
    attribute.isTransient = !isTable && chance(12)
    let property = ModelDraft.Property(id: id, name: name ?? newName("p"), kind: .attribute(attribute))
    draft.change(entity: entity) { $0.properties.append(property) }
    return id
  }

  mutating func addLink() -> String? {
    guard let from = entity()?.id, let to = entity()?.id else { return nil }
    let (id, kind) = (draft.newID(), number(0...5))
    func link(_ to: Int, _ editor: inout ModelEditor) -> ModelDraft.Link {
      ModelDraft.Link(destination: to, isToMany: editor.chance(2), isOrdered: editor.chance(2))
    }
    var there = ModelDraft.Property(id: id, name: newName("r"), kind: .link(link(to, &self)))
    draft.change(entity: from) { $0.properties.append(there) }
    if kind == 0 { return "adds \(there.name) of \(from) to \(to)" }
    if kind == 1, from == to {
      draft.changeLink(id) { $0.inverse = id }
      return "adds \(there.name) of \(from) to itself"
    }
    there = .init(id: draft.newID(), name: newName("r"), kind: .link(link(from, &self)))
    draft.change(entity: to) { $0.properties.append(there) }
    if kind == 2 { return "adds \(id) of \(from) to \(to), and \(there.name) back" }
    draft.changeLink(there.id) { $0.inverse = id }
    draft.changeLink(id) { $0.inverse = there.id }
    return "adds \(id) of \(from) to \(to), with the inverse \(there.name)"
  }
}

public import HeartwoodModel

extension FetchSortDescriptor {
  /// Sorts by the attribute that `keyPath` reads, such as `\ToDo.due`.
  ///
  /// It must be a property of the entity, by what ``ManagedObject/propertyName(forKeyPath:)`` says: the process stops otherwise.
  public init<Object: ManagedObject>(
    _ keyPath: KeyPath<Object, some AttributeValue>,
    ascending isAscending: Bool = true,
    comparison: Comparison = .value
  ) {
    self.init(Object.requiredName(of: keyPath), ascending: isAscending, comparison: comparison)
  }

  /// Sorts by an attribute of the object that a to-one relationship leads to, such as `\ToDo.list, \List.name`.
  ///
  /// Both must be properties of their entities, by what ``ManagedObject/propertyName(forKeyPath:)`` says: the process stops otherwise.
  public init<Object: ManagedObject, Destination: ManagedObject>(
    _ relationship: KeyPath<Object, Destination?>,
    _ keyPath: KeyPath<Destination, some AttributeValue>,
    ascending isAscending: Bool = true,
    comparison: Comparison = .value
  ) {
    let names = [Object.requiredName(of: relationship), Destination.requiredName(of: keyPath)]
    self.init(names.joined(separator: "."), ascending: isAscending, comparison: comparison)
  }
}

extension ManagedObject {
  /// The name of the property that `keyPath` reads. The process stops where it reads none.
  static func requiredName(of keyPath: AnyKeyPath) -> String {
    guard let name = propertyName(forKeyPath: keyPath) else {
      Misuse.stop(
        "\(self) has no property for \(keyPath). Name it in propertyName(forKeyPath:), or begin the key path at the class that declares it."
      )
    }
    return name
  }
}

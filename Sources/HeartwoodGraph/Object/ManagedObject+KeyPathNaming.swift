public import HeartwoodModel

extension ManagedObject: KeyPathNaming {
  /// The name of the property that is read by `keyPath`: what ``propertyName(forKeyPath:)`` says.
  public static func propertyName(of keyPath: AnyKeyPath) -> String? { propertyName(forKeyPath: keyPath) }
}

extension ManagedObjectModel {
  /// The same model with names in another language; see ``localizationDictionary``.
  public func localized(by dictionary: [String: String]) -> ManagedObjectModel {
    ManagedObjectModel(self, localizationDictionary: dictionary)
  }

  /// What the entity called `name` is called in the user's language, or its own name.
  public func localizedName(ofEntity name: String) -> String {
    localizationDictionary["Entity/\(name)"] ?? name
  }

  /// What the property called `name` of an entity is called in the user's language, or its own name.
  ///
  /// A name for the property of one entity comes before one for all properties so called.
  public func localizedName(ofProperty name: String, in entity: EntityDescription) -> String {
    var owner: EntityDescription? = entity
    while let current = owner {
      if let text = localizationDictionary["Property/\(name)/Entity/\(current.name)"] { return text }
      owner = current.superentity
    }
    return localizationDictionary["Property/\(name)"] ?? name
  }
}

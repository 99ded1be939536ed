extension Template {
  /// The text of the template for machine files, as a starting point for custom templates.
  public static let machineText = """
    {{header}}
    {{#imports}}
    {{line}}
    {{/imports}}

    /// The properties of `{{entityName}}`{{#hasHumanFile}}, for `{{className}}` to inherit{{/hasHumanFile}}.
    {{access}}nonisolated {{#isMachineFinal}}final {{/isMachineFinal}}class {{machineClassName}}: {{superclassName}} {
      {{access}}override class var entityName: String { "{{entityName}}" }
    {{#attributes}}

      /// The name and type of the attribute `{{propertyName}}`.
      {{access}}static let {{baseName}}Key = {{keyType}}("{{propertyName}}")

      /// The attribute `{{propertyName}}`.
      {{access}}var {{name}}: {{type}} {
        get { self[{{machineClassName}}.{{baseName}}Key] }
    {{^isDerived}}
        set { self[{{machineClassName}}.{{baseName}}Key] = newValue }
    {{/isDerived}}
      }
    {{/attributes}}
    {{#untypedAttributes}}

      /// The attribute `{{propertyName}}`, which has no type: the object keeps it in memory as it is.
      {{access}}var {{name}}: {{type}}
    {{/untypedAttributes}}
    {{#toOnes}}

      /// The name and class of the relationship `{{propertyName}}`.
      {{access}}static let {{baseName}}Key = ToOneKey<{{destination}}>("{{propertyName}}")

      /// The object in the relationship `{{propertyName}}`.
      {{access}}var {{name}}: {{destination}}? {
        get { self[{{machineClassName}}.{{baseName}}Key] }
        set { self[{{machineClassName}}.{{baseName}}Key] = newValue }
      }
    {{/toOnes}}
    {{#toManys}}

      /// The name and class of the relationship `{{propertyName}}`.
      {{access}}static let {{baseName}}Key = ToManyKey<{{destination}}>("{{propertyName}}")

      /// The objects in the relationship `{{propertyName}}`.
      {{access}}var {{name}}: {{collection}}<{{destination}}> {
        get { self[{{label}}: {{machineClassName}}.{{baseName}}Key] }
        set { self[{{label}}: {{machineClassName}}.{{baseName}}Key] = newValue }
      }

      /// Adds objects to `{{propertyName}}`.
      {{access}}func addTo{{capitalName}}(_ objects: {{destination}}...) {
        for object in objects { {{addition}} }
      }

      /// Removes objects from `{{propertyName}}`.
      {{access}}func removeFrom{{capitalName}}(_ objects: {{destination}}...) {
        for object in objects { {{removal}} }
      }
    {{/toManys}}
    {{#fetches}}

      /// Performs the fetch request `{{requestName}}` of the model.
      {{access}}static func {{name}}(
    {{#parameters}}
        {{parameter}}{{comma}}
    {{/parameters}}
      ) throws -> {{result}} {
        let predicate = try FetchPredicate(format: {{format}})
        var request = FetchRequest<{{className}}>(where: predicate.substituting([{{arguments}}]){{limit}})
    {{#flags}}
        request.{{flag}} = {{value}}
    {{/flags}}
        return try {{call}}
      }
    {{/fetches}}
    {{#hasProperties}}

      {{access}}override class func propertyName(forKeyPath keyPath: AnyKeyPath) -> String? {
        switch keyPath {
    {{#namedProperties}}
        case \\{{className}}.{{name}}: "{{propertyName}}"
    {{/namedProperties}}
        default: super.propertyName(forKeyPath: keyPath)
        }
      }
    {{/hasProperties}}
    }

    nonisolated extension {{machineClassName}} {
      /// The names of the entity's own attributes.
      {{access}}enum {{entityName}}Attributes {
    {{#attributes}}
        /// The name of `{{propertyName}}`.
        {{access}}static let {{name}} = "{{propertyName}}"
    {{/attributes}}
    {{#untypedAttributes}}
        /// The name of `{{propertyName}}`.
        {{access}}static let {{name}} = "{{propertyName}}"
    {{/untypedAttributes}}
      }

      /// The names of the entity's own relationships.
      {{access}}enum {{entityName}}Relationships {
    {{#relationships}}
        /// The name of `{{propertyName}}`.
        {{access}}static let {{name}} = "{{propertyName}}"
    {{/relationships}}
      }
    {{#hasUserInfo}}

      /// The values of the entity's user info, by key.
      {{access}}enum {{entityName}}UserInfo {
    {{#userInfo}}
        /// The value of this key.
        {{access}}static let {{name}} = {{value}}
    {{/userInfo}}
      }
    {{/hasUserInfo}}
    }

    """

  /// The text of the template for human files, as a starting point for custom templates.
  public static let humanText = """
    {{importAccess}}import Heartwood

    /// An object of the entity `{{entityName}}`.
    {{access}}{{#isFinal}}final {{/isFinal}}class {{className}}: {{machineClassName}} {
    }

    """

  /// The text of the template for the file of the model.
  static let modelText = """
    {{header}}
    {{#imports}}
    {{line}}
    {{/imports}}

    /// The model `{{modelName}}` and the classes of its objects.
    {{access}}nonisolated enum {{typeName}} {
      /// The classes of the model's entities, for a coordinator.
      {{access}}static var objectClasses: [ManagedObject.Type] {
        [
    {{#classes}}
          {{className}}.self{{comma}}
    {{/classes}}
        ]
      }

      /// Makes the model.
      ///
      /// - Throws: An error if this version of Heartwood cannot read the generated model.
      {{access}}static func makeModel() throws -> ManagedObjectModel {
        try ManagedObjectModel(encoded: Data(encoded.utf8))
      }

      private static let encoded =
        {{json}}
    }

    """
}

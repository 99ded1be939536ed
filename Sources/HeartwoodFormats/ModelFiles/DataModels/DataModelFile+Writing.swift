public import HeartwoodModel

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

extension DataModelFile {
  /// What files of XML are called in the folder of a model.
  fileprivate static let contentsName = "contents"

  /// The model as the XML of a `contents` file: what was read, also what the model has no place for, such as where the editor draws
  /// the entities.
  ///
  /// - Throws: ``ModelFileError`` where a text has a control character, for which XML has no form; so do the other functions that make XML.
  public func contents() throws(ModelFileError) -> Data {
    Data(try XMLTreeWriter.text(root, of: Self.contentsName).utf8)
  }

  /// The XML of `model`, a changed version of the file's: where the two are the same, what the file says stays as it is, also what
  /// models have no place for. Where an attribute has another type, no default and no rule stays that was left over in the file.
  public func contents(of model: ManagedObjectModel) throws(ModelFileError) -> Data {
    let (old, new) = (DataModelWriter.root(of: self.model), DataModelWriter.root(of: model))
    let restated = root.restated(like: old, before: new)
    return Data(try XMLTreeWriter.text(restated.applying(changesFrom: old, to: new), of: Self.contentsName).utf8)
  }
}

extension ManagedObjectModel {
  /// The model as the XML of a `contents` file, as for one that Xcode has not seen yet.
  ///
  /// Such files have no place for validation predicates, for default values that are bytes, nor for more than one version identifier.
  ///
  /// - Throws: ``ModelFileError`` where a text has a control character, for which XML has no form.
  public func dataModelContents() throws(ModelFileError) -> Data {
    Data(try XMLTreeWriter.text(DataModelWriter.root(of: self), of: DataModelFile.contentsName).utf8)
  }
}

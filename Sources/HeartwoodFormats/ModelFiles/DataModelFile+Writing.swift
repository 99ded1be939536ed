public import HeartwoodModel

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

extension DataModelFile {
  /// The model as the XML of a `contents` file: what was read, also what the model has no place for, such as where the editor draws
  /// the entities.
  public func contents() -> Data {
    Data(XMLTreeWriter.text(root).utf8)
  }

  /// The XML of `model`, a changed version of the file's: where the two are the same, what the file says stays as it is, also what
  /// models have no place for.
  public func contents(of model: ManagedObjectModel) -> Data {
    let (old, new) = (DataModelWriter.root(of: self.model), DataModelWriter.root(of: model))
    let restated = root.restated(like: old, before: new)
    return Data(XMLTreeWriter.text(restated.applying(changesFrom: old, to: new)).utf8)
  }
}

extension ManagedObjectModel {
  /// The model as the XML of a `contents` file, as for one that Xcode has not seen yet.
  ///
  /// Such files have no place for validation predicates, for default values that are bytes, nor for more than one version identifier.
  public func dataModelContents() -> Data {
    Data(XMLTreeWriter.text(DataModelWriter.root(of: self)).utf8)
  }
}

import HeartwoodModel

/// The objects of live results, or of a section, as they were when they were asked for. They are not copied for it.
public struct FetchedObjects<Object: ManagedObject>: RandomAccessCollection {
  private let elements: ChunkedElements<LiveEntry>

  init(_ sections: some Sequence<LiveSection>) {
    elements = ChunkedElements(sections.flatMap { $0.chunks.map(\.entries) })
  }

  /// 0.
  public var startIndex: Int { 0 }
  /// How many objects there are.
  public var endIndex: Int { elements.count }

  /// The object at a place. O(log objects).
  public subscript(position: Int) -> Object {
    guard let object = elements[position].object as? Object else {
      Misuse.stop("Objects of another class than the request's are not let in.")
    }
    return object
  }
}

import Heartwood
import Testing

/// Something that is done to a graph of nodes. What it needs is found first, while nothing fails.
enum FailureOperation {
  case insert(String, parent: String?)
  case setParent(String, String)
  case setChildren(String, [String])
  case setPeers(String, [String])
  case addPeer(String, String)
  /// Peers, by the setter that throws.
  case setByName(String, [String])
  case setGuard(String, String)
  case delete(String)
  case refresh
  /// By getters, which note what they cannot read.
  case read(String)
  case readThrowing(String)
  /// The nodes whose parent has a name.
  case find(String)
  case save

  /// Whether it may change something.
  var changes: Bool {
    switch self {
    case .read, .readThrowing, .find, .save: false
    default: true
    }
  }

  /// Does it, and says what was found.
  func perform(on graph: FailingGraph) throws -> [String] {
    let context = graph.context
    switch self {
    case .insert(let name, let parent):
      if try graph.nodeIfAny(name) != nil { return [] }
      let parent = try parent.map(graph.node)
      let node = try context.insert(entityName: "Node")
      node[FailingGraph.name] = name
      node[FailingGraph.parent] = parent
    case .setParent(let name, let parent):
      let (node, parent) = (try graph.node(name), try graph.node(parent))
      node[FailingGraph.parent] = parent
    case .setChildren(let name, let children):
      let (node, children) = (try graph.node(name), try children.map(graph.node))
      node[FailingGraph.children] = children
    case .setPeers(let name, let peers):
      let (node, peers) = (try graph.node(name), try peers.map(graph.node))
      node[set: FailingGraph.peers] = RelatedSet(peers)
    case .addPeer(let name, let peer):
      let (node, peer) = (try graph.node(name), try graph.node(peer))
      node[set: FailingGraph.peers].insert(peer)
    case .setByName(let name, let peers):
      let (node, peers) = (try graph.node(name), try peers.map(graph.node))
      try node.setValue(Set(peers), forKey: "peers")
    case .setGuard(let name, let keeper):
      let (node, keeper) = (try graph.node(name), try graph.node(keeper))
      node[FailingGraph.keeper] = keeper
    case .delete(let name):
      if let node = try graph.nodeIfAny(name) { context.delete(node) }
    case .refresh: context.refreshAllObjects()
    case .read(let name):
      let node = try graph.node(name)
      return graph.words(of: node)
    case .readThrowing(let name):
      let node = try graph.node(name)
      return try context.reading { graph.words(of: node) }
    case .find(let name):
      let condition = try FetchPredicate(format: "parent.name == %@", name)
      return try context.fetch(FetchRequest<ManagedObject>(entityName: "Node", where: condition)).map {
        $0[FailingGraph.name] ?? "-"
      }.sorted()
    case .save: try context.save()
    }
    return []
  }
}

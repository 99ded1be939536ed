/// The greatest number of elements that are in ascending order already.
enum LongestIncrease {
  /// The places of a longest ascending subsequence of `numbers`, which are all different. O(n log n).
  static func places(in numbers: [Int]) -> [Int] {
    // For each length, the place at which the subsequence of that length with the least end has its end.
    var ends: [Int] = []
    var predecessors: [Int?] = []
    for (place, number) in numbers.enumerated() {
      let length = ends.firstPlace { numbers[$0] >= number }
      predecessors.append(length > 0 ? ends[length - 1] : nil)
      if length < ends.count { ends[length] = place } else { ends.append(place) }
    }
    var places: [Int] = []
    var next = ends.last
    while let place = next {
      places.append(place)
      next = predecessors[place]
    }
    return places.reversed()
  }
}

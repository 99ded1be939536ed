// Apple's CoreData hands on Foundation, and code that imports CoreData alone relies on it.
@_exported public import Foundation

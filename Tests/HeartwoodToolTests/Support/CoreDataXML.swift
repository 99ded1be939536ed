/// Files as Core Data writes them, which hold no model.
enum CoreDataXML {
  /// An object that two others lead to, by a relationship that has no inverse.
  static let twoOwners = """
    <?xml version="1.0"?>
    <!DOCTYPE database SYSTEM "file:///System/Library/DTDs/CoreData.dtd">
    <database>
        <databaseInfo>
            <version>134481920</version>
            <UUID>B4FC79D0-E654-43EF-9020-A5273B3F104A</UUID>
            <metadata><plist version="1.0"><dict>
                <key>NSPersistenceFrameworkVersion</key><integer>186</integer>
                <key>NSStoreModelVersionHashes</key>
                <dict><key>A</key><data>AA==</data><key>B</key><data>AA==</data></dict>
            </dict></plist></metadata>
        </databaseInfo>
        <object type="A" id="z102"><relationship name="bs" type="0/0" destination="B" idrefs="z103 z104"></relationship></object>
        <object type="A" id="z105"><relationship name="bs" type="0/0" destination="B" idrefs="z103"></relationship></object>
        <object type="B" id="z103"></object>
        <object type="B" id="z104"></object>
    </database>

    """

  static let oneOwner = twoOwners.replacing("idrefs=\"z103\"", with: "idrefs=\"\"")
}

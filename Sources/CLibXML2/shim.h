#include <libxml/xmlversion.h>
/* Where libxml2 is built with ICU, its headers bring in the system's, which Swift's Foundation has in another version: whoever imports
   both could not be compiled. The members that go with it are at the end of a structure that only libxml2 makes. */
#undef LIBXML_ICU_ENABLED
#include <libxml/parser.h>
#include <libxml/tree.h>
#include <libxml/xmlerror.h>
#include <libxml/SAX2.h>

/// Words for the seeded people and companies. All combinations are invented, phone numbers are from
/// ranges reserved for fiction, and mail addresses end in `.example`.
enum Seeds {
  static let firstNames = [
    "Ada", "Amir", "Ana", "Anders", "Aisha", "Ben", "Bruno", "Carla", "Chen", "Chloé", "Dana", "David", "Elena", "Emeka",
    "Emma", "Farah", "Felix", "Fatima", "Gabriel", "Grace", "Hana", "Hassan", "Helen", "Hugo", "Ines", "Ivan", "Jana",
    "James", "Jorge", "Julia", "Kai", "Karin", "Kofi", "Lars", "Laura", "Leila", "Liam", "Lucía", "Maja", "Marco", "Maria",
    "Mei", "Mohammed", "Nadia", "Nils", "Noah", "Olga", "Omar", "Paula", "Pedro", "Priya", "Quinn", "Rahul", "Rosa", "Ruth",
    "Samuel", "Sara", "Sofia", "Tariq", "Tomás", "Uma", "Victor", "Wei", "Xavier", "Yara", "Yusuf", "Zoe", "Zsófia",
  ]
  static let lastNames = [
    "Abbott", "Adeyemi", "Alvarez", "Andersen", "Bauer", "Becker", "Bianchi", "Brown", "Castro", "Chen", "Costa", "Cruz",
    "D'Angelo", "Dubois", "Eriksson", "Evans", "Fischer", "Fujita", "García", "Gomez", "Haddad", "Hansen", "Hoffmann",
    "Ibrahim", "Ivanova", "Jansen", "Johnson", "Kaya", "Kim", "Kowalski", "Kumar", "Lambert", "Larsen", "Lee", "Lindqvist",
    "Lopez", "Martin", "Mbeki", "Meyer", "Moreau", "Müller", "Nakamura", "Nguyen", "Novak", "O'Brien", "Okafor", "Olsen",
    "Park", "Patel", "Pereira", "Petrov", "Quispe", "Ramos", "Reyes", "Rossi", "Santos", "Sato", "Schmidt", "Silva", "Singh",
    "Smith", "Suzuki", "Tan", "Taylor", "Thomas", "Ueda", "Varga", "Vogel", "Walker", "Weber", "Williams", "Wong", "Yilmaz",
    "Young", "Zhang", "Ziegler",
  ]
  static let titles = [
    "Account Manager", "Buyer", "CEO", "CFO", "Consultant", "Designer", "Director of Operations", "Engineer",
    "Facilities Manager", "Head of Sales", "IT Manager", "Marketing Manager", "Office Manager", "Plant Manager",
    "Procurement Lead", "Regional Director", "SVP, Technology", "Team Lead", "Technician", "VP, Finance",
  ]
  static let departments = [
    "Administration", "Engineering", "Facilities", "Finance", "Human Resources", "Information Technology", "Logistics",
    "Marketing", "Operations", "Procurement", "Production", "Sales",
  ]
  static let companyNames = [
    "Alder", "Beacon", "Brightwater", "Cedar Point", "Clearfield", "Copperhill", "Delta Nine", "Eastgate", "Evergreen",
    "Fairview", "Fjord", "Golden Pine", "Granite Bay", "Harborlight", "Highland", "Ironbridge", "Juniper", "Kestrel",
    "Lakeshore", "Lighthouse", "Maple & Stone", "Meridian", "Northwind", "Oakline", "Orchard", "Pioneer", "Quarry Lane",
    "Redwood", "Riverside", "Silverton", "Solstice", "Stonebridge", "Summit", "Tidewater", "Umbra", "Vantage", "Westbrook",
    "Willow Creek", "Yellowstone", "Zephyr",
  ]
  static let companyKinds = [
    "Analytics", "Builders", "Components", "Consulting", "Energy", "Foods", "Health", "Hotels", "Instruments", "Logistics",
    "Media", "Motors", "Networks", "Pharma", "Robotics", "Software", "Textiles", "Tools", "Trading", "Water",
  ]
  static let companyForms = ["Inc.", "Ltd.", "GmbH", "Group", "& Sons", "Co."]
  static let industries = [
    "Agriculture", "Apparel", "Banking", "Biotechnology", "Chemicals", "Construction", "Consulting", "Education",
    "Electronics", "Energy", "Engineering", "Healthcare", "Hospitality", "Manufacturing", "Media", "Retail", "Technology",
    "Transportation",
  ]
  static let leadSources = ["Web", "Phone Inquiry", "Partner Referral", "Purchased List", "Trade Show", "Other"]
  static let streets = [
    "Main Street", "Oak Avenue", "Harbor Road", "Station Square", "Park Lane", "Mill Road", "Church Street", "Elm Drive",
    "Market Street", "Bridge Road", "Hillcrest Way", "River Walk", "Sunset Boulevard", "Garden Terrace",
  ]
  /// City, state, postal code prefix, country.
  static let places = [
    ("Portland", "OR", "972", "USA"), ("Austin", "TX", "787", "USA"), ("Denver", "CO", "802", "USA"),
    ("Boston", "MA", "021", "USA"), ("Seattle", "WA", "981", "USA"), ("Chicago", "IL", "606", "USA"),
    ("Atlanta", "GA", "303", "USA"), ("San Diego", "CA", "921", "USA"), ("Toronto", "ON", "M5V", "Canada"),
    ("Vancouver", "BC", "V6B", "Canada"), ("Hamburg", "Hamburg", "200", "Germany"), ("Lyon", "Rhône", "690", "France"),
    ("Porto", "Porto", "400", "Portugal"), ("Bristol", "England", "BS1", "United Kingdom"),
    ("Malmö", "Skåne", "211", "Sweden"), ("Osaka", "Osaka", "530", "Japan"), ("Pune", "MH", "411", "India"),
    ("Curitiba", "PR", "800", "Brazil"), ("Nairobi", "Nairobi", "001", "Kenya"), ("Adelaide", "SA", "500", "Australia"),
  ]
}

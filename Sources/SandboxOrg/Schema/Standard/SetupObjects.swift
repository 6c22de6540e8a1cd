/// Setup objects. Clients can read them but, except for users, not change them.
extension OrgSchema {
  static let user = ObjectSchema(
    "User", plural: "Users", prefix: "005", traits: [.create, .update, .recent, .search, .layout],
    fields: Fields.person + [
      FieldSchema("Username", .string, 80).with {
        $0.isRequired = true
        $0.isIdLookup = true
        $0.isUnique = true
      },
      Fields.required(FieldSchema("Email", .email, 128)), Fields.required(FieldSchema("Alias", .string, 8)),
      Fields.required(Fields.reference("ProfileId", to: ["Profile"], children: nil)),
      Fields.required(FieldSchema("TimeZoneSidKey", .picklist, 40, label: "Time Zone")),
      Fields.required(FieldSchema("LocaleSidKey", .picklist, 40, label: "Locale")),
      Fields.required(FieldSchema("EmailEncodingKey", .picklist, 40, label: "Email Encoding")),
      Fields.required(FieldSchema("LanguageLocaleKey", .picklist, 40, label: "Language")),
      FieldSchema("IsActive", .boolean, label: "Active").with { $0.defaultValue = true },
      Fields.readOnly(FieldSchema("UserType", .picklist, 40).with { $0.defaultValue = "Standard" }),
      Fields.reference("UserRoleId", to: ["UserRole"], children: "Users", label: "Role ID"),
      Fields.reference("ManagerId", to: ["User"], children: nil, label: "Manager ID"), FieldSchema("Title", .string, 80),
      FieldSchema("Department", .string, 80), FieldSchema("Phone", .phone, 40), FieldSchema("MobilePhone", .phone, 40),
      FieldSchema("CommunityNickname", .string, 40, label: "Nickname"),
      Fields.readOnly(FieldSchema("SmallPhotoUrl", .url, 1_024, label: "Url for Thumbnail sized Photo")),
      Fields.readOnly(FieldSchema("FullPhotoUrl", .url, 1_024, label: "Url for full-sized Photo")),
    ])

  static let setup = [organization, profile, userRole, permissionSet, permissionSetAssignment, group, recordType]

  private static let userRole = ObjectSchema(
    "UserRole", label: "Role", plural: "Roles", prefix: "00E", traits: [.create, .update, .delete],
    fields: [
      Fields.name(80, label: "Name"), FieldSchema("DeveloperName", .string, 80),
      Fields.reference("ParentRoleId", to: ["UserRole"], children: nil, label: "Parent Role ID"),
      FieldSchema("RollupDescription", .string, 80, label: "Description"),
    ])

  private static let permissionSet = ObjectSchema(
    "PermissionSet", plural: "Permission Sets", prefix: "0PS", traits: [.create, .update, .delete],
    fields: [
      Fields.name(80, label: "Permission Set Name"),
      Fields.required(FieldSchema("Label", .string, 80, label: "Permission Set Label")),
      FieldSchema("Description", .string, 255), Fields.readOnly(FieldSchema("IsOwnedByProfile", .boolean)),
      Fields.readOnly(Fields.reference("ProfileId", to: ["Profile"], children: nil)),
      Fields.readOnly(FieldSchema("IsCustom", .boolean)), FieldSchema("HasActivationRequired", .boolean),
    ])

  private static let permissionSetAssignment = ObjectSchema(
    "PermissionSetAssignment", plural: "Permission Set Assignments", prefix: "0Pa", traits: [.create, .delete],
    fields: [
      required("PermissionSetId", "PermissionSet", children: "Assignments"),
      required("AssigneeId", "User", children: "PermissionSetAssignments"),
    ])

  private static let organization = ObjectSchema(
    "Organization", plural: "Organizations", prefix: "00D", traits: [],
    fields: [
      Fields.name(80, label: "Name"), FieldSchema("OrganizationType", .picklist, 40, label: "Edition"),
      FieldSchema("IsSandbox", .boolean), FieldSchema("InstanceName", .string, 5),
      FieldSchema("TimeZoneSidKey", .picklist, 40, label: "Time Zone"),
      FieldSchema("DefaultLocaleSidKey", .picklist, 40, label: "Locale"),
      FieldSchema("LanguageLocaleKey", .picklist, 40, label: "Language"), FieldSchema("NamespacePrefix", .string, 15),
      FieldSchema("TrialExpirationDate", .datetime),
      Fields.number("FiscalYearStartMonth", .int, 2, 0, label: "Fiscal Year Starts In"),
    ])

  private static let profile = ObjectSchema(
    "Profile", plural: "Profiles", prefix: "00e", traits: [],
    fields: [Fields.name(255, label: "Name"), FieldSchema("UserType", .picklist, 40), FieldSchema("Description", .string, 255)])

  private static let group = ObjectSchema(
    "Group", plural: "Groups", prefix: "00G", traits: [.create, .update, .delete],
    fields: [
      Fields.name(40, label: "Name"), FieldSchema("DeveloperName", .string, 80),
      Fields.picklist("Type", ["Regular", "Queue", "Organization"], initial: "Regular", length: 40),
      FieldSchema("Email", .email, 255),
    ])

  private static let recordType = ObjectSchema(
    "RecordType", label: "Record Type", plural: "Record Types", prefix: "012", traits: [],
    fields: [
      Fields.name(80, label: "Name"), FieldSchema("DeveloperName", .string, 80),
      FieldSchema("SobjectType", .picklist, 40, label: "SObject Type Name"), FieldSchema("IsActive", .boolean, label: "Active"),
      FieldSchema("Description", .string, 255),
    ])
}

/// Registers all sign-in resources: tokens, sign-in pages, identity and SOAP.
enum SignInRoutes {
  static func add(to table: inout RouteTable<SalesforceService.Endpoint>) {
    TokenRoutes.add(to: &table)
    TokenStateRoutes.add(to: &table)
    AuthorizeRoutes.add(to: &table)
    IdentityRoutes.add(to: &table)
    OpenID.add(to: &table)
    SoapRoutes.add(to: &table)
  }
}

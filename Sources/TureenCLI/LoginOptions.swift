import ArgumentParser
import Tureen

/// Options of a sign-in with a browser.
struct BrowserOptions: ParsableArguments {
  @Option(help: "The app's callback URL, http://localhost:PORT/PATH. With any other one you paste the answer.")
  var redirect: String?

  @Option(help: "The scopes to request, such as 'api refresh_token'. Without it, all scopes of the app.")
  var scope: String?

  @Option(help: "The page that the org shows: none, login (the default), consent or select_account.")
  var prompt: String?

  @Flag(help: "Print the address and do not open a browser.")
  var noBrowser = false

  @Option(help: "Give up after this many seconds (300).")
  var timeout: Int?

  func fill(_ settings: inout LoginSettings) {
    (settings.redirectURI, settings.scope, settings.prompt) = (redirect, scope, prompt)
    (settings.opensBrowser, settings.timeoutS) = (!noBrowser, timeout)
  }
}

/// Where the secrets of an unattended sign-in are. A secret is never an argument.
struct LoginSecretOptions: ParsableArguments {
  @Option(help: "JWT: the file with the app's private key.") var keyFile: String?
  @Option(help: "JWT: the environment variable with the private key.") var keyVariable: String?
  @Option(help: "JWT: the program that prints the private key.") var keyCommand: String?
  @Option(help: "JWT: the audience of the assertion, if it is not the login host.") var audience: String?

  @Option(help: "The file with the app's client secret.") var secretFile: String?
  @Option(help: "The environment variable with the client secret.") var secretVariable: String?
  @Option(help: "The program that prints the client secret.") var secretCommand: String?

  @Option(help: "The file with the user's password, followed by the security token.") var passwordFile: String?
  @Option(help: "The environment variable with the password.") var passwordVariable: String?
  @Option(help: "The program that prints the password.") var passwordCommand: String?

  @Option(help: "The instance that an access token is for. The token comes from standard input unless the next two name it.")
  var instance: String?
  @Option(help: "The environment variable with the access token.") var tokenVariable: String?
  @Option(help: "The program that prints the access token; asked again when a token has expired.") var tokenCommand: String?

  @Option(help: "The file with an SFDX auth URL; '-' reads standard input.") var sfdxUrlFile: String?
  @Option(help: "The alias or user name of an org that the sf CLI is signed in to.") var sf: String?

  func fill(_ settings: inout LoginSettings) {
    settings.key = .init(file: keyFile, variable: keyVariable, command: keyCommand)
    settings.clientSecret = .init(file: secretFile, variable: secretVariable, command: secretCommand)
    settings.password = .init(file: passwordFile, variable: passwordVariable, command: passwordCommand)
    settings.accessToken = .init(variable: tokenVariable, command: tokenCommand)
    (settings.audience, settings.instanceURL) = (audience, instance)
    (settings.sfdxURLFile, settings.sfAlias) = (sfdxUrlFile, sf)
  }
}

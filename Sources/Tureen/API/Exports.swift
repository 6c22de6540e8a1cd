// `import Tureen` also imports the modules whose types its API uses.
@_exported import JSON
@_exported import MobileSync
@_exported import RestClient
@_exported import SmartStore

// What a program needs beside this library's own names comes with `import Tureen`.
@_exported import JSON
@_exported import MobileSync
@_exported import RestClient
@_exported import SmartStore

-- A library on a Parse server: genres, publishers, authors, and books with an ISBN each. Everything is kept in soups; a
-- new book is saved there first and sent in the background.
--
--   tureen run scripts/library.lua [--server URL --app ID] [--title TEXT] [--isbn DIGITS] [--year YEAR] [--genre NAME]
--   tureen run scripts/library.lua offline        reads the soups alone, without a server
--
-- Without --server it uses the sandbox's Parse server, which begins anew with each run; with it, that one, with the key
-- in $PARSE_REST_KEY. It brings what the server has, refuses a name that exists and a book that is not valid, saves a
-- book with a new ISBN, its genre, two authors and a publisher, and shows it with what is around it.
local tureen = require "tureen"
local smartstore, mobilesync = tureen.smartstore, tureen.mobilesync

local KEEP = { mergeMode = "LEAVE_IF_CHANGED" }
local NAMES = { { "genres", "Genre" }, { "publishers", "Publisher" }, { "authors", "Author" } }
local OPTIONS = { "server", "app", "title", "isbn", "year", "genre" }

--- Reads the command line.
local function read_arguments()
  local given, i = { title = "The Sea of Lists", isbn = "9783161484100", year = "2026" }, 1
  local known = {}
  for _, name in ipairs(OPTIONS) do known["--" .. name] = name end
  while arg and arg[i] do
    if arg[i] == "offline" then
      given.offline = true
    elseif known[arg[i]] then
      given[known[arg[i]]], i = arg[i + 1] or error(arg[i] .. " needs a value", 0), i + 1
    else
      error(("'%s' is not an option: use offline, --%s"):format(arg[i], table.concat(OPTIONS, ", --")), 0)
    end
    i = i + 1
  end
  return given
end

--- Waits for an answer; a failed call ends the script with its error.
local function wait_for(fn, ...)
  local value, err = tureen.await(fn, ...)
  if value == nil then error(err, 0) end
  return value
end

-- The server and the soups

local function connection(given)
  if given.server then
    return {
      kind = "parse", serverURL = given.server, applicationId = given.app, restAPIKey = { env = "PARSE_REST_KEY" },
    }
  end
  local server = wait_for(tureen.sandbox.parse)
  return {
    kind = "parse", serverURL = server.url, applicationId = server.applicationId, restAPIKey = server.restAPIKey,
  }
end

local function specs(...)
  local list = {}
  for i, path in ipairs { ... } do list[i] = { path = path, type = "string" } end
  return list
end

local SOUPS = {
  genres = specs("objectId", "name"), publishers = specs("objectId", "name"), authors = specs("objectId", "name"),
  isbns = specs("objectId", "value"), books = specs("objectId", "title", "genre.objectId", "isbn.objectId"),
  links = specs("linkKey", "ownerId", "field", "relatedId"),
}

--- Soups for a server that begins anew are new as well.
local function set_up(is_new)
  for name, paths in pairs(SOUPS) do
    if is_new then wait_for(smartstore.removeSoup, name) end
    wait_for(smartstore.registerSoup, name, paths)
  end
end

local POINTERS = { isbn = { className = "ISBN", soup = "isbns" }, genre = { className = "Genre", soup = "genres" } }
local RELATIONS = {
  { field = "authors", className = "Author", soup = "authors", linkSoup = "links" },
  { field = "publishers", className = "Publisher", soup = "publishers", linkSoup = "links" },
}

-- The relation `books` of a genre follows the column `genre` of its books.
local MIRROR = {
  field = "books", className = "Book", linkSoup = "links", mirrorOf = { className = "Book", field = "genre" },
}

local function target(class, more)
  local made = { type = "parse", className = class, connection = "library" }
  for key, value in pairs(more or {}) do made[key] = value end
  return made
end

local function up_target(class, fields, unique, more)
  local made = target(class, more)
  made.createFieldlist, made.updateFieldlist = fields, fields
  made.externalIdFieldName, made.uniqueBy = "clientKey", { unique }
  return made
end

local BOOKS = { where = { publishingYear = 2026 }, include = { "isbn" }, pointers = POINTERS, relations = RELATIONS }

--- Runs the sync of that name, which the first run saves. What goes wrong is said; the soup stays as it is.
local function bring(class, soup, more)
  local name = soup .. " down"
  local state, err
  if wait_for(mobilesync.hasSyncWithName, name) then
    state, err = tureen.await(mobilesync.reSync, name)
  else
    state, err = tureen.await(mobilesync.syncDown, target(class, more), soup, KEEP, name)
  end
  if not state then print(("%s: not loaded: %s"):format(soup, err.message)) end
  return state
end

-- Reading the soups

local function rows(sql)
  return wait_for(smartstore.runSmartQuery, smartstore.buildSmartQuerySpec(sql, 1000)).currentPageOrderedEntries
end

local function quoted(text) return "'" .. text:gsub("'", "''") .. "'" end

local function count(soup) return math.tointeger(rows(("SELECT count(*) FROM {%s}"):format(soup))[1][1]) end

--- The objects with the first names of a soup.
local function some(soup, limit)
  local list = {}
  local sql = ("SELECT {%s:_soup} FROM {%s} ORDER BY {%s:name} LIMIT %d"):format(soup, soup, soup, limit)
  for i, row in ipairs(rows(sql)) do list[i] = row[1] end
  return list
end

local function list_books()
  local found = rows [[SELECT {books:title}, {isbns:value}, {genres:name} FROM {books}
    LEFT JOIN {isbns} ON {isbns:objectId} = {books:isbn.objectId}
    LEFT JOIN {genres} ON {genres:objectId} = {books:genre.objectId} ORDER BY {books:title}]]
  print(("Books: %d"):format(#found))
  for _, row in ipairs(found) do
    local function text(value) return value ~= tureen.null and value or "-" end
    print(("  %s, ISBN %s, %s"):format(row[1], text(row[2]), text(row[3])))
  end
end

--- One section of a book's page: the names that a relation leads to.
local function show_section(title, book, field, soup)
  local sql = [[SELECT {%s:name} FROM {links} JOIN {%s} ON {%s:objectId} = {links:relatedId}
    WHERE {links:ownerId} = %s AND {links:field} = '%s' ORDER BY {%s:name}]]
  local ok, found = pcall(rows, sql:format(soup, soup, soup, quoted(book), field, soup))
  if not ok then return print(("  %s: %s"):format(title, tostring(found))) end
  local names = {}
  for i, row in ipairs(found) do names[i] = row[1] end
  print(("  %s: %s"):format(title, #names > 0 and table.concat(names, ", ") or "none"))
end

--- The id of a book; nil without one of that title.
local function id_of(title)
  local found = rows(("SELECT {books:objectId} FROM {books} WHERE {books:title} = %s"):format(quoted(title)))
  return found[1] and found[1][1]
end

local function show_book(title)
  local id = id_of(title)
  if not id then return print(("There is no book '%s' here."):format(title)) end
  print(title)
  show_section("Authors", id, "authors", "authors")
  show_section("Publishers", id, "publishers", "publishers")
  local shelf = rows(([[SELECT {genres:name}, count(*) FROM {links} JOIN {genres} ON {genres:objectId} = {links:ownerId}
    WHERE {links:field} = 'books' AND {links:relatedId} = %s GROUP BY {genres:name}]]):format(quoted(id)))
  for _, row in ipairs(shelf) do print("  Among the books of the genre " .. row[1]) end
end

-- Writing

--- What is wrong with a book, field by field; nil when nothing is.
local function problems(book)
  local wrong = {}
  if not book.title:find "%S" then wrong[#wrong + 1] = "title: give one" end
  if not book.isbn:find "^%d+$" or #book.isbn ~= 13 then wrong[#wrong + 1] = "isbn: 13 digits, without dashes" end
  local year = math.tointeger(tonumber(book.year))
  if not year or year < 1450 or year > 2100 then wrong[#wrong + 1] = "year: a number from 1450 to 2100" end
  if not book.genre then wrong[#wrong + 1] = "genre: none of that name" end
  return #wrong > 0 and table.concat(wrong, "; ") or nil
end

--- Why the server refused an entry; nil where it did not.
local function refusal(soup, id)
  local found = rows(("SELECT {%s:_soup} FROM {%s} WHERE {%s:_soupEntryId} = %d"):format(soup, soup, soup, id))
  local text = found[1] and found[1][1].__last_error__
  return text and text ~= tureen.null and tureen.json.decode(text).error or nil
end

--- Adds a genre, publisher or author; the server is asked first whether the name is taken.
local function add_name(soup, class, name)
  local entry = wait_for(mobilesync.newRecord, soup, class, { name = name }, "objectId")
  local state, err = tureen.await(mobilesync.syncUp, up_target(class, { "name" }, { "name" }), soup, KEEP)
  local problem = not state and err.message or refusal(soup, entry._soupEntryId)
  if not problem then return print(("%s '%s' is added"):format(class, name)) end
  print(("%s '%s' is not added: %s"):format(class, name, problem))
  wait_for(smartstore.removeFromSoup, soup, { entry._soupEntryId })
end

local function pointer(class, id) return { __type = "Pointer", className = class, objectId = id } end

local function link(book, field, object)
  return {
    linkKey = ("Book|%s|%s|%s"):format(book, field, object.objectId), ownerId = book, field = field,
    relatedId = object.objectId, __local__ = true, __locally_created__ = true,
  }
end

--- Stores a book with all that belongs to it, and sends it in the background; `done` gets one message. Returns the task
--- that sends.
local function save_book(book, authors, publishers, done)
  local isbn = wait_for(mobilesync.newRecord, "isbns", "ISBN", { value = book.isbn }, "objectId")
  local entry = wait_for(mobilesync.newRecord, "books", "Book", {
    title = book.title, publishingYear = math.tointeger(tonumber(book.year)),
    isbn = pointer("ISBN", isbn.objectId), genre = pointer("Genre", book.genre.objectId),
  }, "objectId")
  local list = {}
  for _, author in ipairs(authors) do list[#list + 1] = link(entry.objectId, "authors", author) end
  for _, publisher in ipairs(publishers) do list[#list + 1] = link(entry.objectId, "publishers", publisher) end
  wait_for(smartstore.upsertSoupEntriesWithExternalId, "links", list, "linkKey")
  return tureen.async(function()
    -- The ISBN first: the book waits for its id. The links go behind the book.
    local fields = { "title", "publishingYear", "isbn", "genre" }
    local sent, err = tureen.await(mobilesync.syncUp, up_target("ISBN", { "value" }, { "value" }), "isbns", KEEP)
    if sent then
      sent, err = tureen.await(mobilesync.syncUp, up_target("Book", fields, { "title", "publishingYear" },
        { pointers = POINTERS, relations = { RELATIONS[1], RELATIONS[2], MIRROR } }), "books", KEEP)
    end
    if not sent then return done(("'%s' stays here until the server is there: %s"):format(book.title, err.message)) end
    local problem = refusal("isbns", isbn._soupEntryId) or refusal("books", entry._soupEntryId)
    if not problem then return done(("'%s' is on the server"):format(book.title)) end
    done(("'%s' is taken back: %s"):format(book.title, problem))
    if refusal("isbns", isbn._soupEntryId) then wait_for(smartstore.removeFromSoup, "isbns", { isbn._soupEntryId }) end
    wait_for(smartstore.removeFromSoup, "books", { entry._soupEntryId })
    wait_for(smartstore.removeFromSoup, "links",
      smartstore.buildExactQuerySpec("ownerId", entry.objectId, 100))
  end)
end

local function find_genre(name)
  local list = rows(("SELECT {genres:_soup} FROM {genres} WHERE {genres:name} = %s"):format(quoted(name)))
  return list[1] and list[1][1]
end

local function main()
  local given = read_arguments()
  if given.offline then
    set_up(false)
    list_books()
    return show_book(given.title)
  end
  tureen.configure { connections = { library = connection(given) } }
  set_up(not given.server)

  local loads = {}
  for i, pair in ipairs(NAMES) do loads[i] = tureen.async(bring, pair[2], pair[1]) end
  wait_for(tureen.all, loads)
  print(("%d genres, %d publishers, %d authors"):format(count "genres", count "publishers", count "authors"))
  if count "genres" == 0 then
    print "Without genres there can be no books."
    return 1
  end

  local first = some("genres", 1)[1]
  if not given.server then add_name("genres", "Genre", "Lighthouse stories") end
  add_name("genres", "Genre", first.name)

  local wrong = { title = " ", isbn = "978-3", year = "MMXXVI" }
  print("A book that is not valid: " .. problems(wrong))
  local genre = find_genre(given.genre or first.name)
  local book = { title = given.title, isbn = given.isbn, year = given.year, genre = genre }
  local problem = problems(book)
  if problem then
    print("The book is not saved: " .. problem)
    return 1
  end

  local upload = save_book(book, some("authors", 2), some("publishers", 1), print)
  print(("'%s' is saved here"):format(book.title))
  wait_for(tureen.all, { upload })

  bring("Book", "books", BOOKS)
  list_books()
  show_book(book.title)
  -- Only the section that may have changed is read again.
  if bring("Author", "authors") then show_section("Authors again", id_of(book.title), "authors", "authors") end
end

tureen.main(main)

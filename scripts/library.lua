-- A library on a Parse server: genres, publishers, authors, and books with ISBNs. All objects are stored in soups; a
-- new book is saved there first and sent in the background.
--
--   tureen run scripts/library.lua [--server URL --app ID] [--title TEXT] [--isbn DIGITS] [--year YEAR] [--genre NAME]
--   tureen run scripts/library.lua offline        reads only the soups, without a server
--
-- Without --server it uses the sandbox's Parse server, which is empty at the start of each run; with it, that server
-- and the key in $PARSE_REST_KEY. The script fetches the server's objects, adds genres, publishers and authors to an
-- empty library, refuses an existing name and an invalid book, saves a book with a new ISBN, its genre, two authors
-- and a publisher, and shows it with its relations.
local tureen = require "tureen"
local smartstore, mobilesync, parse = tureen.smartstore, tureen.mobilesync, tureen.parse

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

--- Waits for a result. If the call fails, the script ends with its error.
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

--- Registers the soups. For a new sandbox server the old ones are removed.
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

-- The relation `books` of a genre mirrors the column `genre` of its books.
local MIRROR = {
  field = "books", className = "Book", linkSoup = "links", mirrorOf = { className = "Book", field = "genre" },
}

-- The initial objects of an empty library.
local FIRST = {
  genres = { "Fantasy", "Science fiction", "Travel" },
  publishers = { "Harbour House", "Northern Light" },
  authors = { "Ada Quill", "Ben Marlow", "Cleo Finch" },
}

-- Objects are read from the soups and saved to them; the syncs below fetch and send them.

local function checked(test, problem)
  return function(value) return not test(value) and problem or nil end
end

local function is_isbn(object) return object and object:get("value"):find "^%d+$" and #object:get "value" == 13 end
local function is_year(year) return math.type(year) == "integer" and year >= 1450 and year <= 2100 end

local function class_of(name, soup, more)
  local settings = { soup = soup, connection = "library", cacheMode = parse.CACHE_MODE.CACHE_ONLY }
  for key, value in pairs(more or {}) do settings[key] = value end
  return parse.class(name, settings)
end

local Genre, Publisher, Author =
  class_of("Genre", "genres"), class_of("Publisher", "publishers"), class_of("Author", "authors")
local ISBN = class_of("ISBN", "isbns")
local Book = class_of("Book", "books", {
  relations = {
    authors = { className = "Author", linkSoup = "links" },
    publishers = { className = "Publisher", linkSoup = "links" },
  },
  validate = {
    title = checked(function(title) return title and title:find "%S" end, "title: missing"),
    isbn = checked(is_isbn, "isbn: 13 digits, without dashes"),
    publishingYear = checked(is_year, "year: a number from 1450 to 2100"),
    genre = checked(function(genre) return genre end, "genre: no genre of that name"),
  },
})

local function target(class_name, more)
  local made = { type = "parse", className = class_name, connection = "library" }
  for key, value in pairs(more or {}) do made[key] = value end
  return made
end

local function up_target(class_name, fields, unique, more)
  local made = target(class_name, more)
  made.createFieldlist, made.updateFieldlist = fields, fields
  made.externalIdFieldName, made.uniqueBy = "clientKey", { unique }
  return made
end

local BOOKS = { where = { publishingYear = 2026 }, include = { "isbn" }, pointers = POINTERS, relations = RELATIONS }

-- The soups that could not be loaded.
local unknown = {}

--- Runs the sync of that name, which the first run saves. Prints an error and leaves the soup unchanged if it fails.
local function bring(class_name, soup, more)
  local name = soup .. " down"
  local state, err
  if wait_for(mobilesync.hasSyncWithName, name) then
    state, err = tureen.await(mobilesync.reSync, name)
  else
    state, err = tureen.await(mobilesync.syncDown, target(class_name, more), soup, KEEP, name)
  end
  if not state then print(("%s: not loaded: %s"):format(soup, err.message)) end
  unknown[soup] = not state or nil
  return state
end

-- Reading the soups

local function rows(sql)
  return wait_for(smartstore.runSmartQuery, smartstore.buildSmartQuerySpec(sql, 1000)).currentPageOrderedEntries
end

local function quoted(text) return "'" .. text:gsub("'", "''") .. "'" end

local function count(soup) return math.tointeger(rows(("SELECT count(*) FROM {%s}"):format(soup))[1][1]) end

--- Returns the first objects of a class by name.
local function some(class, limit) return assert(class:query():order("name"):limit(limit):find()) end

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

--- Prints one section of a book's page: the names of a relation's objects.
local function show_section(title, book, field, soup)
  local sql = [[SELECT {%s:name} FROM {links} JOIN {%s} ON {%s:objectId} = {links:relatedId}
    WHERE {links:ownerId} = %s AND {links:field} = '%s' ORDER BY {%s:name}]]
  local ok, found = pcall(rows, sql:format(soup, soup, soup, quoted(book), field, soup))
  if not ok then return print(("  %s: %s"):format(title, tostring(found))) end
  local names = {}
  for i, row in ipairs(found) do names[i] = row[1] end
  print(("  %s: %s"):format(title, #names > 0 and table.concat(names, ", ") or "none"))
end

--- Returns the id of the book with a title; nil if there is none.
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

--- Returns the hooks' complaints about a book in one line; nil if it is valid.
local function problems(book)
  local wrong, list = book:validate() or {}, {}
  for _, field in ipairs { "title", "isbn", "publishingYear", "genre" } do list[#list + 1] = wrong[field] end
  return #list > 0 and table.concat(list, "; ") or nil
end

--- Returns a new book that is not stored yet.
local function draft(given, genre)
  local year = tonumber(given.year) or given.year
  local book = Book { title = given.title, publishingYear = year, isbn = ISBN { value = given.isbn } }
  if genre then book:set("genre", genre) end
  return book
end

--- Returns why the server refused a new object; nil if it accepted it, so that the entry has the server's id.
local function refusal(object)
  local soup = object.soup
  local found = rows(("SELECT {%s:_soup} FROM {%s} WHERE {%s:objectId} = %s")
    :format(soup, soup, soup, quoted(object.localId)))
  local text = found[1] and found[1][1].__last_error__
  return text and text ~= tureen.null and tureen.json.decode(text).error or nil
end

--- Adds genres, publishers or authors, after asking the server whether the name exists.
local function add_names(class, ...)
  local objects = {}
  for i, name in ipairs { ... } do objects[i] = assert(class { name = name }:save()) end
  local up = up_target(class.className, { "name" }, { "name" })
  local state, err = tureen.await(mobilesync.syncUp, up, class.soup, KEEP)
  for _, object in ipairs(objects) do
    local problem = not state and err.message or refusal(object)
    if problem then
      print(("%s '%s' is not added: %s"):format(class.className, object:get "name", problem))
      assert(object:destroy())
    else
      print(("%s '%s' is added"):format(class.className, object:get "name"))
    end
  end
end

--- Creates genres, publishers and authors, and then books.
local function seed()
  for _, class in ipairs { Genre, Publisher, Author } do
    if count(class.soup) == 0 and not unknown[class.soup] then add_names(class, table.unpack(FIRST[class.soup])) end
  end
end

--- Stores a book with its relations and sends it in the background; `done` gets one message. Returns the sending task.
local function save_book(book, authors, publishers, done)
  local title, isbn = book:get "title", book:get "isbn"
  book:relation("authors"):add(authors)
  book:relation("publishers"):add(publishers)
  assert(book:save())
  return tureen.async(function()
    -- Send the ISBN first, because the book needs its id. The links follow the book.
    local fields = { "title", "publishingYear", "isbn", "genre" }
    local sent, err = tureen.await(mobilesync.syncUp, up_target("ISBN", { "value" }, { "value" }), "isbns", KEEP)
    if sent then
      sent, err = tureen.await(mobilesync.syncUp, up_target("Book", fields, { "title", "publishingYear" },
        { pointers = POINTERS, relations = { RELATIONS[1], RELATIONS[2], MIRROR } }), "books", KEEP)
    end
    if not sent then
      return done(("'%s' stays in the store until the server answers: %s"):format(title, err.message))
    end
    local refused = refusal(isbn)
    local problem = refused or refusal(book)
    if not problem then return done(("'%s' is on the server"):format(title)) end
    done(("'%s' is removed again: %s"):format(title, problem))
    if refused then assert(isbn:destroy()) end
    assert(book:destroy())
    wait_for(smartstore.removeFromSoup, "links", smartstore.buildExactQuerySpec("ownerId", book.localId, 100))
  end)
end

local function find_genre(name)
  local genre = assert(Genre:query(parse.equalTo("name", name)):first())
  return genre ~= tureen.null and genre or nil
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
  seed()
  if count "genres" == 0 then
    print "There are no genres, so no book can be added."
    return 1
  end

  local first = some(Genre, 1)[1]:get "name"
  if not given.server then add_names(Genre, "Lighthouse stories") end
  add_names(Genre, first)

  print("A book that is not valid: " .. problems(draft { title = " ", isbn = "978-3", year = "MMXXVI" }))
  local book = draft(given, find_genre(given.genre or first))
  local problem = problems(book)
  if problem then
    print("The book is not saved: " .. problem)
    return 1
  end

  local upload = save_book(book, some(Author, 2), some(Publisher, 1), print)
  print(("'%s' is saved here"):format(given.title))
  wait_for(tureen.all, { upload })

  bring("Book", "books", BOOKS)
  list_books()
  show_book(given.title)
  -- Read only the section again that may have changed.
  if bring("Author", "authors") then show_section("Authors again", id_of(given.title), "authors", "authors") end
end

tureen.main(main)

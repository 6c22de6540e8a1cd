// Drives a Parse server with the Parse JavaScript SDK, unchanged, and tells which checks held.
// usage: node client.js SDK-MODULE SERVER-URL APPLICATION-ID JAVASCRIPT-KEY MASTER-KEY [WORD]
'use strict';
const assert = require('node:assert/strict');
const http = require('node:http');

const [sdk, url, applicationId, javascriptKey, masterKey, word] = process.argv.slice(2);
const Parse = require(sdk);
Parse.initialize(applicationId, javascriptKey, masterKey);
Parse.serverURL = url;
Parse.User.enableUnsafeCurrentUser();
Parse.CoreManager.set('REQUEST_ATTEMPT_LIMIT', 1);

const master = { useMasterKey: true };
const Book = Parse.Object.extend('Book');
const Author = Parse.Object.extend('Author');
const checks = [];
const check = (name, body) => checks.push({ name, body });
const refusal = (code, promise) =>
  assert.rejects(promise, error => {
    assert.equal(error.code, code, `${error.code} ${error.message}`);
    return true;
  });
const titles = books => books.map(book => book.get('title'));
const download = address =>
  new Promise((resolve, reject) => {
    http.get(address, response => {
      const parts = [];
      response.on('data', part => parts.push(part));
      response.on('end', () => resolve({ status: response.statusCode, type: response.headers['content-type'], bytes: Buffer.concat(parts) }));
    }).on('error', reject);
  });

check('create, fetch, update, unset, delete', async () => {
  const book = await new Book({ title: 'Dune', year: 1965 }).save();
  assert.equal(book.createdAt.getTime(), book.updatedAt.getTime());
  book.set('title', 'Dune (1965)');
  await book.save();
  assert.ok(book.updatedAt > book.createdAt);
  const fetched = await Book.createWithoutData(book.id).fetch();
  assert.deepEqual([fetched.get('title'), fetched.get('year')], ['Dune (1965)', 1965]);
  fetched.unset('year');
  await fetched.save();
  assert.equal((await new Parse.Query(Book).get(book.id)).get('year'), undefined);
  assert.equal(await book.exists(), true);
  await book.destroy();
  await refusal(101, new Parse.Query(Book).get(book.id));
  await refusal(101, Book.createWithoutData(book.id).destroy());
});

check('values of every type come back', async () => {
  const released = new Date('2024-05-01T10:20:30.123Z');
  const book = new Book({ title: 'Types', released, tags: ['a', 'é'], details: { pages: 412, deep: { flag: true } } });
  book.set('place', new Parse.GeoPoint(48.85, 2.35));
  book.set('area', new Parse.Polygon([[0, 0], [0, 10], [10, 10], [10, 0]]));
  await book.save();
  const fetched = await Book.createWithoutData(book.id).fetch();
  assert.equal(fetched.get('released').getTime(), released.getTime());
  assert.deepEqual(fetched.get('tags'), ['a', 'é']);
  assert.deepEqual(fetched.get('details'), { pages: 412, deep: { flag: true } });
  assert.equal(fetched.get('place').latitude, 48.85);
  assert.equal(fetched.get('area').coordinates.length, 5);
  await refusal(111, new Book({ title: 5 }).save());
  await refusal(105, new Book({ title: 'x' }).save({ 'bad-name': 1 }, {}));
});

check('dotted keys', async () => {
  const book = await new Book({ title: 'Dotted', details: { pages: 1, kept: 2 } }).save();
  book.set('details.pages', 7);
  await book.save();
  book.increment('details.pages', 3);
  await book.save();
  assert.equal(book.get('details').pages, 10);
  const fetched = await Book.createWithoutData(book.id).fetch();
  assert.deepEqual(fetched.get('details'), { pages: 10, kept: 2 });
  fetched.unset('details.kept');
  await fetched.save();
  const found = await new Parse.Query(Book).equalTo('details.pages', 10).descending('details.pages').first();
  assert.deepEqual(found.get('details'), { pages: 10 });
});

check('atomic operations', async () => {
  const book = await new Book({ title: 'Operations', year: 10 }).save();
  book.increment('year', 5);
  book.add('tags', 'a');
  await book.save();
  assert.equal(book.get('year'), 15);
  book.addUnique('tags', 'b');
  await book.save();
  book.addAllUnique('tags', ['b', 'c']);
  await book.save();
  book.remove('tags', 'a');
  await book.save();
  const fetched = await Book.createWithoutData(book.id).fetch();
  assert.deepEqual([fetched.get('year'), fetched.get('tags')], [15, ['b', 'c']]);
});

check('deep save, include, nested pointers in arrays', async () => {
  const book = new Book({ title: 'Deep', isbn: new Parse.Object('ISBN', { value: '978' }) });
  book.set('translators', [new Author({ name: 'T1' }), new Author({ name: 'T2' })]);
  await book.save();
  const query = new Parse.Query(Book).equalTo('objectId', book.id);
  const found = await query.include('isbn', 'translators').first();
  assert.equal(found.get('isbn').get('value'), '978');
  assert.deepEqual(found.get('translators').map(author => author.get('name')), ['T1', 'T2']);
  const all = await new Parse.Query(Book).includeAll().get(book.id);
  assert.equal(all.get('isbn').get('value'), '978');
  await all.get('translators')[0].destroy();
  const left = await new Parse.Query(Book).include('translators').get(book.id);
  assert.deepEqual(left.get('translators').map(author => author.get('name')), ['T2']);
});

check('batches and transactions', async () => {
  const rows = Array.from({ length: 45 }, (_, n) => new Parse.Object('Row', { n }));
  await Parse.Object.saveAll(rows);
  assert.equal(new Set(rows.map(row => row.id)).size, 45);
  assert.equal(await new Parse.Query('Row').count(), 45);
  rows.slice(0, 3).forEach(row => row.increment('n', 100));
  await Parse.Object.saveAll(rows.slice(0, 3), { transaction: true });
  assert.deepEqual(rows.slice(0, 3).map(row => row.get('n')), [100, 101, 102]);
  await rows[0].destroy();
  await assert.rejects(Parse.Object.destroyAll([rows[0], rows[1]]), error => {
    assert.equal(error.code, Parse.Error.AGGREGATE_ERROR);
    assert.deepEqual(error.errors.map(inner => inner.code), [101]);
    return true;
  });
  assert.equal(await new Parse.Query('Row').count(), 43);
  const seen = [];
  await new Parse.Query('Row').each(row => void seen.push(row.id), { batchSize: 10 });
  assert.equal(new Set(seen).size, 43);
  await new Parse.Query('Row').eachBatch(batch => assert.ok(batch.length <= 20), { batchSize: 20 });
});

check('conditions', async () => {
  const made = ['alpha', 'beta', 'gamma', 'delta'].map((title, index) =>
    new Book({ title, year: 2000 + index, tags: index < 2 ? ['x', `n${index}`] : ['y'] }));
  made[3].set('rating', 3);
  await Parse.Object.saveAll(made);
  const ids = made.map(book => book.id);
  const base = () => new Parse.Query(Book).containedIn('objectId', ids).ascending('year');
  const expect = async (query, wanted) => assert.deepEqual(titles(await query.find()), wanted, JSON.stringify(query.toJSON()));
  await expect(base().equalTo('title', 'beta'), ['beta']);
  await expect(base().notEqualTo('title', 'beta'), ['alpha', 'gamma', 'delta']);
  await expect(base().greaterThan('year', 2001), ['gamma', 'delta']);
  await expect(base().greaterThanOrEqualTo('year', 2001).lessThan('year', 2003), ['beta', 'gamma']);
  await expect(base().notContainedIn('title', ['beta', 'delta']), ['alpha', 'gamma']);
  await expect(base().containsAll('tags', ['x', 'n1']), ['beta']);
  await expect(base().containsAllStartingWith('tags', ['x', 'n']), ['alpha', 'beta']);
  await expect(base().containedBy('tags', ['y', 'z']), ['gamma', 'delta']);
  await expect(base().exists('rating'), ['delta']);
  await expect(base().doesNotExist('rating'), ['alpha', 'beta', 'gamma']);
  await expect(base().matches('title', /^[AB]/i), ['alpha', 'beta']);
  await expect(base().startsWith('title', 'al'), ['alpha']);
  await expect(base().endsWith('title', 'mma'), ['gamma']);
  await expect(base().contains('title', 'et'), ['beta']);
  const year = value => new Parse.Query(Book).equalTo('year', value);
  await expect(Parse.Query.and(base(), Parse.Query.or(year(2000), year(2003))).ascending('year'), ['alpha', 'delta']);
  await expect(Parse.Query.and(base(), Parse.Query.nor(year(2000), year(2003))).ascending('year'), ['beta', 'gamma']);
  await expect(base().select('title').limit(2).skip(1), ['beta', 'gamma']);
  assert.equal((await base().select('title').first()).get('year'), undefined);
  assert.equal((await base().exclude('title').first()).get('title'), undefined);
  const { results, count } = await base().limit(1).withCount().find();
  assert.deepEqual([results.length, count], [1, 4]);
  assert.equal(await base().count(), 4);
  assert.equal((await new Parse.Query(Book).containedIn('objectId', ids).findAll({ batchSize: 3 })).length, 4);
  const isbn = await new Parse.Object('ISBN', { value: 'sub' }).save();
  await made[0].save({ isbn });
  await expect(base().matchesQuery('isbn', new Parse.Query('ISBN').equalTo('value', 'sub')), ['alpha']);
  await expect(base().doesNotMatchQuery('isbn', new Parse.Query('ISBN').equalTo('value', 'sub')), ['beta', 'gamma', 'delta']);
  await expect(base().equalTo('isbn', isbn), ['alpha']);
  await new Author({ name: 'gamma' }).save();
  const named = new Parse.Query(Author).equalTo('name', 'gamma');
  await expect(base().matchesKeyInQuery('title', 'name', named), ['gamma']);
  await expect(base().doesNotMatchKeyInQuery('title', 'name', named), ['alpha', 'beta', 'delta']);
  await refusal(102, new Parse.Query(Book).equalTo('ACL', 'x').find());
  await refusal(105, new Parse.Query(Book).equalTo('a b', 1).find());
});

check('geo queries', async () => {
  const square = [[40, 10], [40, 15], [45, 15], [45, 10]];
  for (const [title, latitude, longitude] of [['Rome', 41.9, 12.5], ['Paris', 48.85, 2.35], ['Lille', 50.63, 3.06]]) {
    const book = new Book({ title, place: new Parse.GeoPoint(latitude, longitude) });
    if (title === 'Rome') book.set('area', new Parse.Polygon(square));
    await book.save();
  }
  const here = new Parse.GeoPoint(50.6, 3);
  const base = () => new Parse.Query(Book).containedIn('title', ['Rome', 'Paris', 'Lille']);
  const found = async query => titles(await query.find());
  assert.deepEqual(await found(base().near('place', here)), ['Lille', 'Paris', 'Rome']);
  assert.deepEqual(await found(base().withinKilometers('place', here, 50)), ['Lille']);
  assert.deepEqual((await found(base().withinKilometers('place', here, 300, false))).sort(), ['Lille', 'Paris']);
  const low = new Parse.GeoPoint(40, 0), high = new Parse.GeoPoint(49, 13);
  assert.deepEqual((await found(base().withinGeoBox('place', low, high))).sort(), ['Paris', 'Rome']);
  assert.deepEqual(await found(base().withinPolygon('place', square.map(([a, b]) => new Parse.GeoPoint(a, b)))), ['Rome']);
  assert.deepEqual(await found(base().polygonContains('area', new Parse.GeoPoint(42, 12))), ['Rome']);
});

check('relations', async () => {
  const book = await new Book({ title: 'Relations' }).save();
  const authors = ['a', 'b', 'c'].map(name => new Author({ name: `rel ${name}` }));
  await Parse.Object.saveAll(authors);
  const relation = book.relation('authors');
  relation.add(authors);
  await book.save();
  const names = async () => (await relation.query().find()).map(author => author.get('name')).sort();
  assert.deepEqual(await names(), ['rel a', 'rel b', 'rel c']);
  relation.remove(authors[1]);
  relation.add(authors[0]);
  await book.save();
  assert.deepEqual(await names(), ['rel a', 'rel c']);
  const owners = await new Parse.Query(Book).equalTo('authors', authors[0]).find();
  assert.deepEqual(owners.map(owner => owner.id), [book.id]);
  const again = await Book.createWithoutData(book.id).fetch();
  assert.equal((await again.relation('authors').query().ascending('name').first()).get('name'), 'rel a');
});

check('access lists', async () => {
  const closed = new Book({ title: 'Closed' });
  closed.setACL(new Parse.ACL({}));
  await closed.save();
  await refusal(101, new Parse.Query(Book).get(closed.id));
  assert.equal((await new Parse.Query(Book).get(closed.id, master)).get('title'), 'Closed');
  await refusal(101, closed.save({ title: 'Changed' }));
});

check('users: sign-up, login, change, sessions, logout', async () => {
  const user = await Parse.User.signUp('grace', 'p4ss', { email: 'grace@example.org', city: 'Oslo' });
  const first = user.getSessionToken();
  assert.match(first, /^r:[0-9a-f]{32}$/);
  await refusal(202, Parse.User.signUp('grace', 'x'));
  await Parse.User.logIn('grace', 'p4ss');
  await refusal(209, Parse.User.me(first));
  const me = await Parse.User.me(Parse.User.current().getSessionToken());
  assert.equal(me.get('city'), 'Oslo');
  const own = Parse.User.current();
  await own.save({ city: 'Rome' });
  assert.equal((await Parse.Session.current()).get('user').id, own.id);
  const old = own.getSessionToken();
  await own.save({ password: 'n3w' });
  assert.notEqual(own.getSessionToken(), old);
  await refusal(209, Parse.User.me(old));
  assert.equal((await new Parse.Query(Parse.User).find()).length, 1);
  await Parse.User.logOut();
  assert.equal((await new Parse.Query(Parse.User).find()).length, 0);
  await refusal(101, Parse.User.logIn('grace', 'p4ss'));
  await refusal(209, new Parse.Query(Parse.Session).find());
  await Parse.User.logIn('grace', 'n3w');
  await Parse.User.logOut();
});

check('anonymous users become named ones', async () => {
  const user = await Parse.AnonymousUtils.logIn();
  assert.equal(Parse.AnonymousUtils.isLinked(user), true);
  user.set({ username: 'named', password: 'p' });
  await user.signUp();
  await Parse.User.logOut();
  assert.equal((await Parse.User.logIn('named', 'p')).id, user.id);
  await Parse.User.logOut();
});

check('roles', async () => {
  const grace = await Parse.User.logIn('grace', 'n3w');
  const acl = new Parse.ACL();
  acl.setPublicReadAccess(true);
  acl.setPublicWriteAccess(true);
  const role = new Parse.Role('Editors', acl);
  role.getUsers().add(grace);
  await role.save();
  const book = new Book({ title: 'For editors' });
  book.setACL(new Parse.ACL({ 'role:Editors': { read: true } }));
  await book.save();
  assert.equal((await new Parse.Query(Book).get(book.id)).get('title'), 'For editors');
  await Parse.User.logOut();
  await refusal(101, new Parse.Query(Book).get(book.id));
  await refusal(137, new Parse.Role('Editors', acl).save());
});

check('files as base64', async () => {
  const file = await new Parse.File('note.txt', { base64: Buffer.from('hello').toString('base64') }, 'text/plain').save();
  assert.match(file.name(), /^[0-9a-f]{32}_note\.txt$/);
  const book = await new Book({ title: 'File', cover: file }).save();
  const cover = (await Book.createWithoutData(book.id).fetch()).get('cover');
  assert.equal(cover.url(), file.url());
  const read = await download(cover.url());
  assert.deepEqual([read.status, read.type, read.bytes.toString()], [200, 'text/plain', 'hello']);
  await file.destroy(master);
  assert.equal((await download(cover.url())).status, 404);
  await refusal(130, new Parse.File('a.html', [1, 2], 'text/html').save());
  await refusal(122, new Parse.File('-a.txt', [1, 2], 'text/plain').save());
});

check('schemas, configuration, functions, health', async () => {
  const schema = new Parse.Schema('Shelf').addString('label').addNumber('places');
  await schema.save();
  assert.equal((await schema.get()).fields.places.type, 'Number');
  await new Parse.Schema('Shelf').deleteField('places').addPointer('book', 'Book').update();
  assert.equal((await schema.get()).fields.book.targetClass, 'Book');
  await new Parse.Object('Shelf', { label: 'a' }).save();
  await refusal(255, schema.delete());
  await schema.purge();
  await schema.delete();
  await refusal(103, schema.get());
  const strict = new Parse.Schema('Strict').addString('label', { required: true }).addNumber('places', { defaultValue: 4 });
  await strict.save();
  assert.equal((await new Parse.Object('Strict', { label: 'a' }).save()).get('places'), 4);
  await refusal(142, new Parse.Object('Strict', {}).save());
  await Parse.Config.save({ greeting: 'hello', secret: 1 }, { secret: true });
  const config = await Parse.Config.get();
  assert.deepEqual([config.get('greeting'), config.get('secret')], ['hello', undefined]);
  assert.equal((await Parse.Config.get(master)).get('secret'), 1);
  await refusal(141, Parse.Cloud.run('none'));
  assert.equal(await Parse.getServerHealth().then(answer => answer.status ?? answer), 'ok');
});

async function main() {
  let failures = 0, count = 0;
  for (const { name, body } of checks) {
    if (word && !name.includes(word)) continue;
    count += 1;
    try {
      await body();
      console.log(`ok ${name}`);
    } catch (error) {
      failures += 1;
      console.log(`not ok ${name}: ${error && error.stack ? error.stack : JSON.stringify(error)}`);
    }
  }
  console.log(`${count - failures} passed, ${failures} failed`);
  process.exit(failures === 0 && count > 0 ? 0 : 1);
}

main();

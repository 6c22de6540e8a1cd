// Drives stores and syncs through the relay with the calls a hybrid application's plug-ins make.
//
//   node main_job.mjs PORT        the relay's port; its org is the sandbox
import assert from 'node:assert/strict';
import { connect } from './container.mjs';

const VERSION = 'pluginSDKVersion:14.0.0';
const container = await connect(Number(process.argv[2]));

/** One call as the plug-ins make it: the version in front, then one object. */
const call = (service, action, args = {}) => new Promise((resolve, reject) => {
  container.exec(resolve, reject, `com.salesforce.${service}`, action, [VERSION, args]);
});
const store = (action, args) => call('smartstore', action, { isGlobalStore: false, ...args });
const query = async (smartSql) => (await store('pgRunSmartQuery', {
  querySpec: { queryType: 'smart', indexPath: null, smartSql, orderPath: null, order: 'ascending', pageSize: 100 },
})).currentPageOrderedEntries;

/** Starts a sync; its end comes as an event. The listener is added when the start was answered, as applications do. */
const sync = async (action, args) => {
  const started = await call('mobilesync', action, { isGlobalStore: false, ...args });
  assert.equal(started.status, 'RUNNING');
  const seen = [];
  return new Promise((resolve) => {
    const listener = ({ detail }) => {
      if (detail._soupEntryId !== started._soupEntryId) return;
      seen.push(detail.status);
      if (detail.status === 'RUNNING') return;
      container.document.removeEventListener('sync', listener);
      resolve({ ...detail, seen });
    };
    container.document.addEventListener('sync', listener);
  });
};

// Who is there.
const info = await call('sdkinfo', 'getInfo');
assert.match(info.sdkVersion, /^14\.0\.0/);
assert.ok(info.forcePluginsAvailable.includes('com.salesforce.mobilesync'));

// Register, and again: nothing changes.
const indexes = ['Id', 'LastName', '__local__'].map((path) => ({ path, type: 'string' }))
  .concat({ path: '__sync_id__', type: 'integer' });
assert.equal(await store('pgSoupExists', { soupName: 'people' }), false);
assert.equal(await store('pgRegisterSoup', { soupName: 'people', indexes }), 'people');
assert.equal(await store('pgRegisterSoup', { soupName: 'people', indexes }), 'people');
assert.equal(await store('pgSoupExists', { soupName: 'people' }), true);
await assert.rejects(store('pgClearSoup', { soupName: 'nobody' }), { domain: 'smartstore', code: 'noSuchSoup' });

// Upsert and query; nulls, empty lists, umlauts and large integers arrive as they were sent.
const sent = { Id: 'x1', LastName: 'Grüße', Empty: [], Nothing: null, Nested: {}, Big: 9007199254740991 };
const [stored] = await store('pgUpsertSoupEntries', { soupName: 'people', entries: [sent], externalIdPath: '_soupEntryId' });
assert.ok(Number.isInteger(stored._soupEntryId));
const spec = { queryType: 'exact', indexPath: 'Id', matchKey: 'x1', orderPath: 'Id', order: 'ascending', pageSize: 10 };
const cursor = await store('pgQuerySoup', { soupName: 'people', querySpec: spec });
assert.deepEqual([cursor.currentPageIndex, cursor.totalPages, cursor.totalEntries], [0, 1, 1]);
const [{ _soupEntryId, _soupLastModifiedDate, ...found }] = cursor.currentPageOrderedEntries;
assert.equal(_soupEntryId, stored._soupEntryId);
assert.ok(_soupLastModifiedDate > 0);
assert.deepEqual(found, sent);
assert.equal(await store('pgCloseCursor', { cursorId: cursor.cursorId }), 'OK');
assert.equal(await store('pgRemoveFromSoup', { soupName: 'people', entryIds: [stored._soupEntryId] }), 'OK');

// Sync down.
const target = { type: 'soql', query: "SELECT Id, FirstName, LastName, LastModifiedDate FROM Contact WHERE LastName LIKE 'S%'" };
const options = { mergeMode: 'OVERWRITE' };
const down = await sync('syncDown', { target, soupName: 'people', options, syncName: 'down' });
assert.equal(down.status, 'DONE');
assert.equal(down.progress, 100);
assert.deepEqual([down.isGlobalStore, down.storeName], [false, 'defaultStore']);
assert.ok(down.totalSize > 0);
assert.deepEqual(await query('SELECT count(*) FROM {people}'), [[down.totalSize]]);
const state = await call('mobilesync', 'getSyncStatus', { isGlobalStore: false, syncId: null, syncName: 'down' });
assert.equal(state.status, 'DONE');

// Edit two, make one, sync up.
const [[first], [second]] = await query('SELECT {people:_soup} FROM {people} ORDER BY {people:Id} LIMIT 2');
const flags = (created, updated, deleted) => ({
  __local__: true, __locally_created__: created, __locally_updated__: updated, __locally_deleted__: deleted,
});
await store('pgUpsertSoupEntries', {
  soupName: 'people', externalIdPath: '_soupEntryId',
  entries: [
    { ...first, FirstName: 'Relayed', ...flags(false, true, false) },
    { ...second, FirstName: 'Relayed', ...flags(false, true, false) },
    { Id: 'local_1', LastName: 'Socket', FirstName: 'Relayed', attributes: { type: 'Contact' }, ...flags(true, false, false) },
  ],
});
const up = await sync('syncUp', {
  target: {}, soupName: 'people', options: { fieldlist: ['FirstName', 'LastName'], mergeMode: 'OVERWRITE' }, syncName: 'up',
});
assert.deepEqual([up.status, up.progress, up.totalSize], ['DONE', 100, 3]);
assert.deepEqual(await query("SELECT count(*) FROM {people} WHERE {people:__local__} = 'true'"), [[0]]);
const [[created]] = await query("SELECT {people:_soup} FROM {people} WHERE {people:LastName} = 'Socket'");
assert.match(created.Id, /^003/);

// The server has it; a failure is a text that holds JSON.
const request = (args) => call('network', 'pgSendRequest', { endPoint: '/services/data', ...args });
const server = await request({ path: `/v66.0/sobjects/Contact/${created.Id}`, method: 'GET' });
assert.equal(server.FirstName, 'Relayed');
const failure = await request({ path: '/v66.0/sobjects/Contact/003000000000000AAA', method: 'GET' }).catch((text) => JSON.parse(text));
assert.equal(failure.response.statusCode, 404);
assert.equal(failure.response.body[0].errorCode, 'NOT_FOUND');

// What is wrong is answered, too.
await assert.rejects(call('smartstore', 'pgFly'), { code: 'unknownAction' });
await assert.rejects(call('nothing', 'pgFly'), { code: 'unknownService' });
await assert.rejects(store('pgSoupExists', {}), { code: 'invalidArguments' });

assert.equal(container.pending(), 0);
container.close();
console.log('the main job runs through the relay');

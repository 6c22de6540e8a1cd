// Calls a plug-in that the relay's script registers, with what a hybrid application has for its own plug-ins.
//
//   node plugin_job.mjs PORT        the relay's port
import assert from 'node:assert/strict';
import { connect } from './container.mjs';

const VERSION = 'pluginSDKVersion:14.0.0';
const ECHO = 'com.acme.echo';
const container = await connect(Number(process.argv[2]));
const exec = (service, action, args) => new Promise((resolve, reject) => container.exec(resolve, reject, service, action, args));

// It is listed beside those of the SDK.
const info = await exec('com.salesforce.sdkinfo', 'getInfo', [VERSION, {}]);
assert.ok(info.forcePluginsAvailable.includes(ECHO), JSON.stringify(info.forcePluginsAvailable));
assert.ok(info.forcePluginsAvailable.includes('com.salesforce.smartstore'));
assert.equal(new Set(info.forcePluginsAvailable).size, info.forcePluginsAvailable.length);

// It answers, with and without the version in front; values arrive as they were sent.
const sent = { text: 'Grüße', empty: [], nothing: null, nested: { list: [1, 2.5] }, big: 9007199254740991 };
assert.deepEqual(await exec(ECHO, 'echo', [VERSION, sent]), sent);
assert.deepEqual(await exec(ECHO, 'echo', [sent]), sent);

// Answers that come later find their own callbacks.
const later = await Promise.all([1, 2, 3].map((number) => exec(ECHO, 'later', [VERSION, { number }])));
assert.deepEqual(later, [{ number: 1 }, { number: 2 }, { number: 3 }]);

// Refusals of the plug-in, and of the bridge.
await assert.rejects(exec(ECHO, 'refuse', [VERSION, { reason: 'not today' }]), { domain: ECHO, code: 'refused', message: 'not today' });
await assert.rejects(exec(ECHO, 'fly', [VERSION, {}]), { domain: 'bridge', code: 'unknownAction' });
await assert.rejects(exec('com.acme.ech', 'echo', [VERSION, {}]), { domain: 'bridge', code: 'unknownService' });

assert.equal(container.pending(), 0);
container.close();
console.log('the plug-in answers through the relay');

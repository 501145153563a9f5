import { formatCount } from '../../../ui/format.ts'

/** Words of grouping: rules of a project, versions, merging and discarding. */

const plural = (count: number, one: string, many: string): string => `${formatCount(count)} ${count === 1 ? one : many}`
const events = (count: number): string => plural(count, 'event', 'events')
const issues = (count: number): string => plural(count, 'issue', 'issues')

export const grouping = {
  title: 'Grouping',
  lead: 'What is one issue in this project. Rules act on events that come from now on.',
  saved: 'Grouping rules saved',
  failed: 'Could not save the rules.',
  fingerprintRules: 'Fingerprint rules',
  fingerprintMore: 'The first one that matches decides; a fingerprint the app sends comes before any',
  stackRules: 'Stack rules',
  stackMore: 'Which frames are of the app, and which do not count',
  add: 'Add rule',
  noFingerprint: 'No rules: events meet by their error and its frames.',
  noStack: 'No rules: frames are marked as the SDK, or their place, says.',
  ruleOf: (number: number) => `Fingerprint rule ${number}`,
  stackRuleOf: (number: number) => `Stack rule ${number}`,
  match: 'Matches',
  matchHint:
    'type, value, message, level, release, module, function, path, package, tag.<key>; * is any text, - before it says not',
  stackMatchHint: 'module, function, path, package',
  fingerprint: 'Fingerprint',
  fingerprintHint: '{{default}} is what we would use; also {{type}}, {{function}}, {{tag.x}}; commas between parts',
  titleField: 'Title (optional)',
  action: 'The frame',
  actions: { in_app: 'is of the app', not_in_app: 'is not of the app', ignore: 'does not count' },
  up: (number: number) => `Move rule ${number} up`,
  remove: (number: number) => `Remove rule ${number}`,
  removeStack: (number: number) => `Remove stack rule ${number}`,
  hits: (count: number) => events(count),
  problems: {
    empty: 'Write at least one condition, such as type:PaymentError.',
    shape: (word: string) => `${word} is no condition: write key:value, such as type:PaymentError.`,
    quote: 'A quote is not closed.',
    noFingerprint: 'Write what these events share, such as payments.',
  },
  tryOut: 'Preview',
  tryTitle: 'What would change',
  tryFailed: 'The preview failed.',
  nothingStored: 'No events of the last seven days are stored that could be looked at.',
  looked: (looked: number, of: number, found: number, since: string) =>
    looked < of
      ? `Looked at ${formatCount(looked)} of the newest ${events(of)} before time was up, in ${issues(found)}, since ${since}.`
      : `Looked at ${events(of)} in ${issues(found)}, since ${since}.`,
  same: 'The same events would meet.',
  moved: (count: number) => `${events(count)} would meet others than now.`,
  merges: (count: number) =>
    count === 1 ? 'These issues would become one' : `${formatCount(count)} groups of issues would become one each`,
  splits: (count: number) => `${issues(count)} would fall apart`,
  together: (count: number) => `${events(count)} together`,
  parts: (count: number) => `into ${count}`,
  version: 'Version',
  versionMore: 'How events are grouped where no rule says so',
  versionIs: (version: number) => `Grouping version ${version}`,
  newest: 'The newest there is. Versions never change, so issues stay what they are.',
  newer: (version: number) => `Version ${version} is there. Nothing changes until you move this project.`,
  moving: (from: number, until: string) =>
    `Moving from version ${from}: until ${until}, events it does not know yet join the issue version ${from} finds.`,
  upgrade: (version: number) => `Move to version ${version}…`,
  upgradeTitle: (version: number) => `Move to version ${version}?`,
  upgradeText:
    'For 30 days events the new version does not know join the issue the old one finds: what would fall apart stays together where it comes within these days. After that they make new issues. There is no way back.',
  upgradeRun: 'Move this project',
  upgraded: (version: number) => `Moved to version ${version}`,
  upgradeFailed: 'Could not move the project.',
  looking: 'Looking at the events of the last week…',
  cancel: 'Cancel',
  discards: 'Discarded issues',
  discardsMore: 'Their events are dropped as they come, and counted as discarded',
  noDiscards: 'Nothing is discarded.',
  discardedBy: (name: string | null, count: number) =>
    `${name === null ? 'Discarded' : `Discarded by ${name}`} with ${events(count)}`,
  takeUp: 'Take up again',
  tookUp: (id: string) => `${id} is taken up again: its next event makes an issue`,
  takeUpFailed: 'Could not take it up again.',
  moreDiscards: (count: number) => `and ${formatCount(count)} more`,
} as const

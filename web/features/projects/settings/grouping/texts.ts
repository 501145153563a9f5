import { counted, formatCount } from '../../../../ui/format.ts'

/** Texts of a project's grouping rules, versions and discarded issues. */

const events = (count: number): string => counted(count, 'event', 'events')
const issues = (count: number): string => counted(count, 'issue', 'issues')

export const groupingTexts = {
  title: 'Grouping',
  lead: 'Decide which events form one issue. Rules apply to new events.',
  saved: 'Grouping rules saved',
  failed: 'Could not save the rules.',
  fingerprintRules: 'Fingerprint rules',
  fingerprintMore: 'The first matching rule applies. A fingerprint sent by the SDK takes precedence.',
  stackRules: 'Stack rules',
  stackMore: 'Mark frames as in-app, or ignore them',
  add: 'Add rule',
  noFingerprint: 'No rules. Events are grouped by error and stack frames.',
  noStack: 'No rules. The SDK and the file path decide which frames are in-app.',
  ruleOf: (number: number) => `Fingerprint rule ${number}`,
  stackRuleOf: (number: number) => `Stack rule ${number}`,
  match: 'Matches',
  matchHint:
    'type, value, message, level, release, module, function, path, package, tag.<key>; * matches any text, a leading - negates',
  stackMatchHint: 'module, function, path, package',
  fingerprint: 'Fingerprint',
  fingerprintHint: 'Comma-separated. {{default}} is the default fingerprint; also {{type}}, {{function}}, {{tag.x}}',
  titleField: 'Title (optional)',
  action: 'Frame',
  actions: { in_app: 'is in-app', not_in_app: 'is not in-app', ignore: 'is ignored' },
  up: (number: number) => `Move rule ${number} up`,
  remove: (number: number) => `Remove rule ${number}`,
  removeStack: (number: number) => `Remove stack rule ${number}`,
  hits: (count: number) => events(count),
  problems: {
    empty: 'Enter at least one condition, for example type:PaymentError.',
    shape: (word: string) => `${word} is not a condition. Use key:value, for example type:PaymentError.`,
    quote: 'A quotation mark is not closed.',
    noFingerprint: 'Enter a fingerprint, for example payments.',
  },
  tryOut: 'Preview',
  tryTitle: 'What would change',
  tryFailed: 'The preview failed.',
  nothingStored: 'No events were stored in the last seven days.',
  checked: (checked: number, of: number, found: number, since: string) =>
    checked < of
      ? `Checked ${formatCount(checked)} of the newest ${events(of)} in ${issues(found)} before the time limit, since ${since}.`
      : `Checked ${events(of)} in ${issues(found)}, since ${since}.`,
  same: 'Grouping would not change.',
  moved: (count: number) => `${events(count)} would be grouped differently.`,
  merges: (count: number) =>
    count === 1 ? 'These issues would be merged' : `${formatCount(count)} groups of issues would be merged`,
  splits: (count: number) => `${issues(count)} would be split`,
  together: (count: number) => `${events(count)} together`,
  parts: (count: number) => `into ${count}`,
  version: 'Version',
  versionMore: 'Default grouping, used when no rule matches',
  versionIs: (version: number) => `Grouping version ${version}`,
  newest: 'This is the latest version. Versions never change, so existing issues stay as they are.',
  newer: (version: number) => `Version ${version} is available. Nothing changes until you upgrade this project.`,
  moving: (from: number, until: string) =>
    `Upgrading from version ${from}. Until ${until}, events that have no issue in the new version join the one that version ${from} finds.`,
  upgrade: (version: number) => `Upgrade to version ${version}…`,
  upgradeTitle: (version: number) => `Upgrade to version ${version}?`,
  upgradeText:
    'For 30 days, events that have no issue in the new version join the one that the old version finds, so that issues are not split. After that, they create new issues. This cannot be undone.',
  upgradeRun: 'Upgrade this project',
  upgraded: (version: number) => `Upgraded to version ${version}`,
  upgradeFailed: 'Could not upgrade the project.',
  checking: 'Checking the events of the last week…',
  cancel: 'Cancel',
  discards: 'Discarded issues',
  discardsMore: 'New events are dropped and counted as discarded',
  noDiscards: 'No discarded issues.',
  discardedBy: (name: string | null, count: number) =>
    `${name === null ? 'Discarded' : `Discarded by ${name}`} with ${events(count)}`,
  restore: 'Restore',
  restored: (id: string) => `${id} restored. Its next event creates an issue.`,
  restoreFailed: 'Could not restore the issue.',
  moreDiscards: (count: number) => `and ${formatCount(count)} more`,
} as const

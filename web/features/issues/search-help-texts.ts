/** The language of the search field, by example. */

export const searchHelpTexts = {
  intro: 'Words begin words of title, message, function, file and tags. Terms narrow together.',
  examples: [
    ['checkout "on pay"', 'words; quoted ones whole'],
    ['is:unresolved level:[error, fatal]', 'status and level; lists take any'],
    ['release:1.2.* environment:production', 'facts of its events, * for anything'],
    ['device.model:"SM-A125F" os.name:Android', 'device and system'],
    ['user.id:7 users:>=5 events:>100', 'who and how many'],
    ['assigned:me first_seen:-24h', 'owner, and seen first in the last day'],
    ['-tenant:acme has:feature', 'not; any other key is a tag'],
    ['(level:fatal OR severity:critical)', 'groups'],
  ],
} as const

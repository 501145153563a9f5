import { formatCount } from '../../../ui/format.ts'

/** Texts of the page of symbols. */
export const symbolsTexts = {
  title: 'Symbols',
  lead: 'Source maps, ProGuard mappings and debug files that turn positions and addresses back into your code.',
  upload: 'Upload',
  files: 'Files',
  copied: 'Copied',

  missing: {
    title: 'Missing for the newest events',
    figures: (unreadable: number, lookedAt: number) =>
      lookedAt === 1
        ? 'The newest event is not readable'
        : `${formatCount(unreadable)} of the newest ${formatCount(lookedAt)} events ${unreadable === 1 ? 'is' : 'are'} not readable`,
    none: 'The newest events are readable.',
    noEvents: 'No events in the last 7 days.',
    kinds: {
      source_map: (name: string) => `Source map of ${name}`,
      mapping: () => 'ProGuard or R8 mapping',
      debug_file: (name: string) => `Debug file of ${name === '' ? 'an image without a name' : name}`,
    },
    noRelease: 'No release',
    events: (count: string) => `${count} ${count === '1' ? 'event' : 'events'}`,
    issues: (count: string) => `${count} ${count === '1' ? 'issue' : 'issues'}`,
    run: 'Run where it was built, or in CI',
    after: 'Stored events are read again at once. Their grouping does not change.',
    broken: 'The uploaded file could not be indexed. Upload it again.',
  },

  drop: {
    title: 'Drop files here',
    or: 'or choose them. UUIDs and debug ids are read from the files.',
    limits: 'Debug file up to 512 MB, mapping 128 MB, source map 64 MB',
    choose: 'Choose files',
    release: 'Release',
    releaseHint: 'For source maps without a debug id and for mappings. The name that your app sends.',
    sending: (name: string, percent: string) => `${name}: ${percent}`,
    done: (name: string) => `${name}: uploaded, being indexed`,
    failed: (name: string, reason: string) => `${name}: ${reason}`,
    viewer: 'Viewers cannot upload files.',
  },

  table: {
    title: 'Uploads',
    count: (count: string) => `${count} ${count === '1' ? 'file' : 'files'}`,
    filter: 'Kind of files',
    kind: 'Kind',
    shown: { all: 'All', js_source_map: 'Source maps', proguard: 'Mappings', native: 'Debug files' },
    kinds: {
      js_source_map: 'Source map',
      proguard: 'Mapping',
      macho: 'Mach-O',
      elf: 'ELF',
      breakpad: 'Breakpad',
      dart_symbol_map: 'Dart map',
    },
    name: 'File',
    release: 'Release',
    debugId: 'Debug id',
    releaseOrCpu: 'Release or CPU',
    usedBy: 'Used by',
    usedByHint: 'Of the newest events of the last 7 days, at most 200',
    uses: (count: string) => `${count} ${count === '1' ? 'event' : 'events'}`,
    size: 'Size',
    state: 'State',
    when: 'Uploaded',
    actions: 'Actions',
    states: { indexing: 'Indexing', ready: 'Ready', failed: 'Failed' },
    none: 'No files yet',
    noneText: 'Upload a file above, or from your build.',
    noneOfKind: 'No files of this kind',
    more: (total: string) => `The newest of ${total} are shown, 100 source maps and mappings and 100 debug files.`,
  },

  deletion: {
    button: 'Delete',
    of: (name: string) => `Delete ${name}`,
    title: (name: string) => `Delete ${name}?`,
    text: 'Events are no longer readable by it, old ones too. This cannot be undone.',
    usedText: (count: string) =>
      `${count} of the newest events ${count === '1' ? 'is' : 'are'} readable by this file. They will not be, nor older ones. This cannot be undone.`,
    done: (name: string) => `${name} is deleted`,
    failed: 'Could not delete the file.',
  },
} as const

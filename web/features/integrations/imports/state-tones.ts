import type { Import } from '../../../api/import-queries.ts'

/** How the badge of a state looks. */
export const stateTones = {
  mapping: 'amber',
  running: 'blue',
  paused: 'amber',
  stopped: 'plain',
  done: 'green',
} as const satisfies Readonly<Record<Import['state'], string>>

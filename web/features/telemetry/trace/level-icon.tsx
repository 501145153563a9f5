import { Icon } from '../../../ui/icon.tsx'
import typeStyles from '../../../ui/type.module.css'

type Look = 'info' | 'warn' | 'error'
const LOOKS = new Map<string, Look>([
  ['warn', 'warn'],
  ['error', 'error'],
  ['fatal', 'error'],
])
const TONES = { info: undefined, warn: typeStyles.amber, error: typeStyles.red } as const

export const lookOfLevel = (level: string): Look => LOOKS.get(level) ?? 'info'

/** The level of a log line in a trace. */
export function LevelIcon({ level }: { level: string }) {
  const look = lookOfLevel(level)
  return <Icon name={look === 'info' ? 'info' : 'warn'} label={level} className={TONES[look]} />
}

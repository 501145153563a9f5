import { Icon } from './icon.tsx'
import { uiTexts } from './texts.ts'
import styles from './status.module.css'

export type StatusName = 'unresolved' | 'resolved' | 'ignored' | 'regressed' | 'escalated'
export const STATUS_WORDS: Readonly<Record<StatusName, string>> = {
  unresolved: 'Unresolved',
  resolved: 'Resolved',
  ignored: 'Ignored',
  regressed: 'Regressed',
  escalated: 'Escalated',
}

/** Hue classes for a status icon that stands without its word. */
export const STATUS_COLOURS: Readonly<Record<StatusName, string>> = {
  unresolved: 'c-blue',
  resolved: 'c-green',
  ignored: 'c-slate',
  regressed: 'c-violet',
  escalated: 'c-vermilion',
}

/** Icon, word and hue. */
export function Status({ status }: { status: StatusName }) {
  return (
    <span className={styles.word} data-status={status}>
      <Icon name={`st-${status}`} />
      <span>{STATUS_WORDS[status]}</span>
    </span>
  )
}

export type SeverityName = 'critical' | 'high' | 'medium' | 'low'
export const SEVERITY_WORDS: Readonly<Record<SeverityName, string>> = {
  critical: 'Critical',
  high: 'High',
  medium: 'Medium',
  low: 'Low',
}

/** Level bars and hue; the word beside it, or spoken only. */
export function Severity({ severity, word = true }: { severity: SeverityName; word?: boolean }) {
  return (
    <span className={styles.word} data-severity={severity}>
      {word ? (
        <>
          <Icon name={`sv-${severity}`} />
          <span>{SEVERITY_WORDS[severity]}</span>
        </>
      ) : (
        <Icon name={`sv-${severity}`} label={uiTexts.severity(SEVERITY_WORDS[severity])} />
      )}
    </span>
  )
}

import { Icon } from './icon.tsx'
import { uiTexts } from './texts.ts'
import styles from './status.module.css'
import typeStyles from './type.module.css'

export type StatusName = 'unresolved' | 'resolved' | 'ignored' | 'regressed' | 'escalated'
export const STATUS_NAMES: Readonly<Record<StatusName, string>> = {
  unresolved: 'Unresolved',
  resolved: 'Resolved',
  ignored: 'Ignored',
  regressed: 'Regressed',
  escalated: 'Escalated',
}

/** Colour classes for a status icon without its name. */
export const STATUS_COLOURS: Readonly<Record<StatusName, string | undefined>> = {
  unresolved: typeStyles.blue,
  resolved: typeStyles.green,
  ignored: typeStyles.slate,
  regressed: typeStyles.violet,
  escalated: typeStyles.vermilion,
}

/** A status: icon, name and colour. */
export function Status({ status }: { status: StatusName }) {
  return (
    <span className={styles.word} data-status={status}>
      <Icon name={`st-${status}`} />
      <span>{STATUS_NAMES[status]}</span>
    </span>
  )
}

export type SeverityName = 'critical' | 'high' | 'medium' | 'low'
export const SEVERITY_NAMES: Readonly<Record<SeverityName, string>> = {
  critical: 'Critical',
  high: 'High',
  medium: 'Medium',
  low: 'Low',
}

/** A severity: bars and colour; its name is visible or only for screen readers. */
export function Severity({ severity, word = true }: { severity: SeverityName; word?: boolean }) {
  return (
    <span className={styles.word} data-severity={severity}>
      {word ? (
        <>
          <Icon name={`sv-${severity}`} />
          <span>{SEVERITY_NAMES[severity]}</span>
        </>
      ) : (
        <Icon name={`sv-${severity}`} label={uiTexts.severity(SEVERITY_NAMES[severity])} />
      )}
    </span>
  )
}

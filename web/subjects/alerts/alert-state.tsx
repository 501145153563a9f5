import type { AlertState } from '#shared/alert-rules.ts'
import { Icon, type IconName } from '../../ui/icon.tsx'
import { alertTexts } from './alert-texts.ts'
import styles from './alert-state.module.css'

const ICONS: Readonly<Record<AlertState, IconName>> = {
  firing: 'bell',
  acknowledged: 'eye',
  resolved: 'st-resolved',
  expired: 'clock',
}

/** The state of an alert: icon, word and colour. */
export const AlertStateMark = ({ state }: { state: AlertState }) => (
  <span className={styles.state} data-state={state}>
    <Icon name={ICONS[state]} />
    {alertTexts.states[state]}
  </span>
)

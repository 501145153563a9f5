import type { AlertState } from '#shared/alert-rules.ts'
import { classNames } from '../../ui/class-names.ts'
import fitStyles from '../../ui/fit.module.css'
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
  <span className={classNames(styles.state, fitStyles.icons14)} data-state={state}>
    <Icon name={ICONS[state]} />
    {alertTexts.states[state]}
  </span>
)

import type { TriggerType } from '#shared/alert-rules.ts'
import { TRIGGER_ICONS } from '../../subjects/alerts/look.ts'
import choiceStyles from '../../ui/choice.module.css'
import { classNames } from '../../ui/class-names.ts'
import { Icon } from '../../ui/icon.tsx'
import narrowStyles from '../../ui/narrow.module.css'
import { builderTexts } from './builder-texts.ts'
import styles from './trigger-cards.module.css'
import typeStyles from '../../ui/type.module.css'

/** In the order in which teams need them. */
const ORDER: readonly TriggerType[] = [
  'issue_regression',
  'new_issue',
  'issue_spike',
  'performance_threshold',
  'critical_path',
  'pre_crash_state',
  'battery_drain_threshold',
  'security_event',
  'monitor',
]

type TriggerCardsProps = { name: string; chosen: TriggerType; onChange: (trigger: TriggerType) => void }

/** The triggers in plain words; one is chosen. */
export const TriggerCards = ({ name, chosen, onChange }: TriggerCardsProps) => (
  <div className={classNames(styles.cards, narrowStyles.twoColumnsAt600)}>
    {ORDER.map((trigger) => (
      <label key={trigger} className={classNames(styles.card, choiceStyles.framed, choiceStyles.hovers)}>
        <input
          type="radio"
          className={typeStyles.hidden}
          name={name}
          checked={trigger === chosen}
          onChange={() => onChange(trigger)}
        />
        <Icon name={TRIGGER_ICONS[trigger]} />
        <span>{builderTexts.triggers[trigger]}</span>
      </label>
    ))}
  </div>
)

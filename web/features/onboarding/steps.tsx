import { Icon } from '../../ui/icon.tsx'
import { onboardingTexts } from './texts.ts'
import styles from './steps.module.css'

export type StepState = { done: boolean; now: boolean; more: string }

/** The progress of the set-up. */
export function Steps({ project, sdk, event }: { project: StepState; sdk: StepState; event: StepState }) {
  const steps = [
    { name: onboardingTexts.steps.project, ...project },
    { name: onboardingTexts.steps.sdk, ...sdk },
    { name: onboardingTexts.steps.event, ...event },
  ]
  return (
    <ol className={styles.steps} aria-label={onboardingTexts.progress}>
      {steps.map((step, index) => (
        <li
          key={step.name}
          className={step.done ? styles.done : step.now ? styles.now : undefined}
          aria-current={step.now ? 'step' : undefined}
        >
          <span className={styles.stepN}>
            {step.done ? <Icon name="check" label={onboardingTexts.steps.done} /> : index + 1}
          </span>
          <div>
            <b>{step.name}</b>
            <small>{step.more}</small>
          </div>
        </li>
      ))}
    </ol>
  )
}

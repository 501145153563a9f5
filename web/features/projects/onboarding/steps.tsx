import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { onboardingQuery } from '../../../api/queries.ts'
import { useCan } from '../../../app/can.ts'
import { InviteDialog } from '../../../subjects/members/invite-dialog.tsx'
import { classNames } from '../../../ui/class-names.ts'
import fitStyles from '../../../ui/fit.module.css'
import { Icon } from '../../../ui/icon.tsx'
import narrowStyles from '../../../ui/narrow.module.css'
import { TextButton } from '../../../ui/text-button.tsx'
import { onboardingTexts } from './texts.ts'
import styles from './steps.module.css'

export type StepState = { done: boolean; now: boolean; more: string }

type StepsProps = {
  project: StepState
  sdk: StepState
  event: StepState
  /** Null for a platform whose stack traces are readable as they are. */
  symbols: StepState | null
}

/** The progress of the set-up. */
export function Steps({ project, sdk, event, symbols }: StepsProps) {
  const [inviting, setInviting] = useState(false)
  const may = useCan('team.write')
  const status = useQuery({ ...onboardingQuery, meta: { quiet: true } })
  const invited = status.data?.steps.team_invited === true
  const steps = [
    { name: onboardingTexts.steps.project, ...project },
    { name: onboardingTexts.steps.sdk, ...sdk },
    { name: onboardingTexts.steps.event, ...event },
    ...(symbols === null ? [] : [{ name: onboardingTexts.steps.symbols, ...symbols }]),
    {
      name: onboardingTexts.steps.team,
      done: invited,
      now: false,
      more: invited ? onboardingTexts.steps.teamDone : onboardingTexts.steps.teamMore,
      ...(may.allowed ? { action: { label: onboardingTexts.steps.invite, run: () => setInviting(true) } } : {}),
    },
  ]
  return (
    <>
      <ol className={styles.steps} aria-label={onboardingTexts.progress}>
        {steps.map((step, index) => (
          <li
            key={step.name}
            className={step.done ? classNames(styles.done, fitStyles.icons14) : step.now ? styles.now : undefined}
            aria-current={step.now ? 'step' : undefined}
          >
            <span className={styles.stepN}>
              {step.done ? <Icon name="check" label={onboardingTexts.steps.done} /> : index + 1}
            </span>
            <div>
              <b>{step.name}</b>
              <small className={narrowStyles.hiddenAt860}>{step.more}</small>
              {'action' in step && step.action !== undefined ? (
                <TextButton className={fitStyles.block} onClick={step.action.run}>
                  {step.action.label}
                </TextButton>
              ) : null}
            </div>
          </li>
        ))}
      </ol>
      {inviting ? <InviteDialog onClose={() => setInviting(false)} /> : null}
    </>
  )
}

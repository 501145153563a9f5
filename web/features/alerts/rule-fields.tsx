import { useQuery } from '@tanstack/react-query'
import { useId, type ReactNode } from 'react'
import type { TriggerType } from '#shared/alert-rules.ts'
import type { AlertRule } from '../../api/alert-queries.ts'
import { projectsQuery } from '../../api/queries.ts'
import { formatMinutes } from '../../subjects/alerts/look.ts'
import { Field, FieldHint, SelectField } from '../../ui/field.tsx'
import { FormRow } from '../../ui/form.tsx'
import { Icon } from '../../ui/icon.tsx'
import { Cap } from '../../ui/kbd.tsx'
import { Switch } from '../../ui/switch.tsx'
import { builderTexts as texts } from './builder-texts.ts'
import { Channels } from './channels.tsx'
import { Conditions } from './conditions.tsx'
import { DryRun } from './dry-run.tsx'
import { conditionsNow, dryRunBody, isEscalationTime, type RuleDraft } from './rule-draft.ts'
import { ChoiceSlot, Sentence, TextSlot } from './sentence.tsx'
import { TriggerCards } from './trigger-cards.tsx'
import styles from './builder.module.css'

type RuleFieldsProps = {
  /** Null for a new rule. */
  rule: AlertRule | null
  draft: RuleDraft
  /** Whether fields say what is wrong. */
  tried: boolean
  /** Why the user may not change the rule. */
  why: string | undefined
  onChange: (part: Partial<RuleDraft>) => void
  /** A channel was tested. */
  onTested: (key: string, isGood: boolean) => void
}

/** The fields of a rule: its name and project, then when, if, then. */
export function RuleFields({ rule, draft, tried, why, onChange, onTested }: RuleFieldsProps) {
  const projects = useQuery(projectsQuery)
  const projectName = projects.data?.items.find(({ id }) => id === draft.projectId)?.name ?? rule?.project.name
  const stored = rule === null ? [] : [...rule.actions, ...rule.escalation_actions]
  const channels = { projectId: draft.projectId, ruleId: rule?.id ?? null, stored, tried, why, onTested }
  return (
    <>
      <FormRow>
        <Field
          label={texts.name}
          value={draft.name}
          maxLength={100}
          autoComplete="off"
          error={tried && draft.name.trim() === '' ? texts.nameMissing : undefined}
          onChange={(event) => onChange({ name: event.target.value })}
        />
        <SelectField
          label={texts.project}
          value={draft.projectId}
          disabled={rule !== null}
          error={tried && draft.projectId === '' ? texts.projectMissing : undefined}
          onChange={(event) => onChange({ projectId: event.target.value })}
        >
          {draft.projectId === '' ? <option value="">{texts.chooseProject}</option> : null}
          {rule !== null && projects.data?.items.every(({ id }) => id !== rule.projectId) !== false ? (
            <option value={rule.projectId}>{rule.project.name}</option>
          ) : null}
          {projects.data?.items.map(({ id, name }) => (
            <option key={id} value={id}>
              {name}
            </option>
          ))}
        </SelectField>
      </FormRow>
      <Step step="when">
        <TriggerCards name="trigger" chosen={draft.trigger} onChange={(trigger) => onChange({ trigger })} />
      </Step>
      <Step step="condition">
        <Conditions
          trigger={draft.trigger}
          draft={conditionsNow(draft)}
          projectName={projectName ?? texts.yourProject}
          tried={tried}
          onChange={(next) => onChange({ conditions: { ...draft.conditions, [draft.trigger]: next } })}
        />
        <DryRun body={dryRunBody(draft)} hasProject={draft.projectId !== ''} />
      </Step>
      <Step step="channels">
        <Channels
          {...channels}
          label={texts.channels}
          actions={draft.actions}
          onChange={(actions) => onChange({ actions })}
        />
        {draft.actions.length === 0 ? <FieldHint>{texts.noChannels}</FieldHint> : null}
        <Quiet draft={draft} onChange={onChange} why={why} />
        <p className={styles.option}>
          {texts.escalating}
          <Switch
            label={texts.escalating}
            checked={draft.isEscalating}
            why={why}
            onChange={(isEscalating) => onChange({ isEscalating })}
          />
        </p>
        {draft.isEscalating ? (
          <Escalation draft={draft} tried={tried} onChange={onChange}>
            <Channels
              {...channels}
              label={texts.escalations}
              actions={draft.escalations}
              onChange={(escalations) => onChange({ escalations })}
            />
          </Escalation>
        ) : null}
      </Step>
    </>
  )
}

/** The steps of the builder, and their keys. */
export const STEPS = [
  { step: 'when', key: '1' },
  { step: 'condition', key: '2' },
  { step: 'channels', key: '3' },
] as const
type StepName = (typeof STEPS)[number]['step']

/** Moves the focus to the first control of a step. */
export function goToStep(form: HTMLFormElement | null, step: StepName): void {
  const section = form?.querySelector(`[data-step="${step}"]`)
  section?.scrollIntoView({ block: 'start' })
  const control =
    section?.querySelector<HTMLElement>('input:checked') ?? section?.querySelector<HTMLElement>('input, select, button')
  control?.focus({ preventScroll: true })
}

function Step({ step, children }: { step: StepName; children: ReactNode }) {
  const number = STEPS.find((one) => one.step === step)?.key ?? ''
  return (
    <fieldset className={styles.step} data-step={step}>
      <legend>
        <Cap cap={number} /> {texts.steps[step]}
      </legend>
      {children}
    </fieldset>
  )
}

type PartProps = { draft: RuleDraft; onChange: (part: Partial<RuleDraft>) => void }

const COOLDOWNS = [0, 5, 15, 30, 60, 120, 240, 720, 1440, 10_080] as const

/** Triggers whose alerts are about an issue. */
const OF_ISSUES: readonly TriggerType[] = ['new_issue', 'issue_regression', 'issue_spike', 'security_event']

const quietText = (trigger: TriggerType): string =>
  OF_ISSUES.includes(trigger)
    ? texts.quiet.issue
    : trigger === 'critical_path'
      ? texts.quiet.path
      : trigger === 'monitor'
        ? texts.quiet.monitor
        : texts.quiet.project

function Quiet({ draft, onChange, why }: PartProps & { why: string | undefined }) {
  const cooldowns = [...new Set([...COOLDOWNS, draft.cooldown])].toSorted((a, b) => a - b)
  return (
    <div className={styles.quiet}>
      <Sentence
        small
        text={quietText(draft.trigger)}
        slots={{
          cooldown: (
            <ChoiceSlot
              label={texts.slots.cooldown}
              value={String(draft.cooldown)}
              options={cooldowns.map((minutes) => ({
                value: String(minutes),
                label: minutes === 0 ? texts.notQuiet : formatMinutes(minutes),
              }))}
              onChange={(value) => onChange({ cooldown: Number(value) })}
            />
          ),
        }}
      />
      {OF_ISSUES.includes(draft.trigger) ? (
        <p className={styles.option}>
          {texts.closing}
          <Switch
            label={texts.closing}
            checked={draft.isClosing}
            why={why}
            onChange={(isClosing) => onChange({ isClosing })}
          />
        </p>
      ) : null}
    </div>
  )
}

function Escalation({ draft, tried, onChange, children }: PartProps & { tried: boolean; children: ReactNode }) {
  const errorId = useId()
  const isWrong = !isEscalationTime(draft.escalateAfter)
  const isMissing = tried && draft.escalations.length === 0
  return (
    <div className={styles.escalation}>
      <Sentence
        small
        text={texts.escalateAfter}
        slots={{
          minutes: (
            <TextSlot
              label={texts.slots.escalateAfter}
              value={draft.escalateAfter}
              isWrong={isWrong}
              errorId={errorId}
              onChange={(escalateAfter) => onChange({ escalateAfter })}
            />
          ),
        }}
      />
      {isWrong || isMissing ? (
        <FieldHint id={errorId} role="alert" bad>
          <Icon name="warn" />
          {isWrong ? texts.escalateAfterMissing : texts.escalationsMissing}
        </FieldHint>
      ) : null}
      {children}
    </div>
  )
}

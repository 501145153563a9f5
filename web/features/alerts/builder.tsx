import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { useId, useRef, useState, type ReactNode } from 'react'
import type { TriggerType } from '#shared/alert-rules.ts'
import type { AlertRule } from '../../api/alert-queries.ts'
import { errorSentence } from '../../api/change.ts'
import { projectsQuery } from '../../api/queries.ts'
import { paths } from '../../address/paths.ts'
import { formatMinutes } from '../../subjects/alerts/look.ts'
import { useCan } from '../../app/can.ts'
import { SaveFoot } from '../../forms/save-foot.tsx'
import { UnsavedGuard, useUnsaved } from '../../forms/unsaved.tsx'
import { useKeys } from '../../app/keys.ts'
import { appTexts } from '../../app/texts.ts'
import { Button, IconButton } from '../../ui/button.tsx'
import { Card } from '../../ui/card.tsx'
import choiceStyles from '../../ui/choice.module.css'
import { classNames } from '../../ui/class-names.ts'
import { Field, FieldHint, focusFirstInvalid, SelectField } from '../../ui/field.tsx'
import { FormRow } from '../../ui/form.tsx'
import { formatDay } from '../../ui/format.ts'
import { Icon } from '../../ui/icon.tsx'
import { Cap } from '../../ui/kbd.tsx'
import { Menu } from '../../ui/menu.tsx'
import { Note } from '../../ui/note.tsx'
import { Spacer } from '../../ui/stack.tsx'
import { Switch } from '../../ui/switch.tsx'
import { Minor } from '../../ui/text.tsx'
import { builderTexts as texts } from './builder-texts.ts'
import { Channels } from './channels.tsx'
import { Conditions } from './conditions.tsx'
import { DeleteRule } from './delete-rule.tsx'
import { DryRun } from './dry-run.tsx'
import { useFreshSecrets } from './fresh-secrets.tsx'
import { conditionsNow, differ, dryRunBody, isEscalationTime, isIncomplete, type RuleDraft } from './rule-draft.ts'
import { ChoiceSlot, Sentence, TextSlot } from './sentence.tsx'
import { TriggerCards } from './trigger-cards.tsx'
import { useSaveRule } from './save-rule.ts'
import styles from './builder.module.css'

type BuilderProps = {
  /** Null for a new rule. */
  rule: AlertRule | null
  initial: RuleDraft
  /** Above the fields. */
  note?: ReactNode
}

/** Makes or changes a rule: when, if, then. */
export const Builder = (props: BuilderProps) => (
  <UnsavedGuard>
    <RuleForm {...props} />
  </UnsavedGuard>
)

function RuleForm({ rule, initial, note }: BuilderProps) {
  const may = useCan('alerts.write')
  const navigate = useNavigate()
  const form = useRef<HTMLFormElement>(null)
  const [start, setStart] = useState(initial)
  const [draft, setDraft] = useState(initial)
  const [tried, setTried] = useState(false)
  const [badTests, setBadTests] = useState<ReadonlySet<string>>(new Set())
  const [isDeleting, setDeleting] = useState(false)
  const projects = useQuery(projectsQuery)
  const isDirty = may.allowed && differ(draft, start)
  const letGo = useUnsaved(isDirty)
  const save = useSaveRule(rule)
  const showSecrets = useFreshSecrets()
  const projectName = projects.data?.items.find(({ id }) => id === draft.projectId)?.name ?? rule?.project.name
  const change = (part: Partial<RuleDraft>) => {
    setDraft((before) => ({ ...before, ...part }))
    save.reset()
  }
  const onTested = (key: string, isGood: boolean) =>
    setBadTests((before) => new Set(isGood ? [...before].filter((one) => one !== key) : [...before, key]))
  const close = () => void navigate(paths.alertRules())
  const submit = () => {
    if (!may.allowed || save.isPending) return
    setTried(true)
    if (isIncomplete(draft)) {
      if (form.current !== null) focusFirstInvalid(form.current)
      return
    }
    save.mutate(draft, {
      onSuccess: (saved, fresh) => {
        setTried(false)
        setStart(fresh)
        setDraft(fresh)
        if (rule !== null) return showSecrets(saved)
        letGo()
        // The secret asks before the page is left, so it appears on the next one.
        void navigate({ ...paths.alertRule(saved.id), replace: true }).then(() => showSecrets(saved))
      },
    })
  }
  useKeys([
    ...STEPS.map(({ step, key }) => ({
      keys: key,
      label: texts.goToStep[step],
      group: 'Page' as const,
      run: () => goTo(form.current, step),
      sheetOnly: true,
    })),
    { keys: 'escape', label: texts.close, group: 'Page', run: close, sheetOnly: true },
  ])
  const conditions = conditionsNow(draft)
  const stored = rule === null ? [] : [...rule.actions, ...rule.escalation_actions]
  const channels = { projectId: draft.projectId, ruleId: rule?.id ?? null, stored, tried, why: may.why, onTested }
  const title = rule === null ? texts.newTitle : may.allowed ? texts.editTitle : texts.viewTitle
  return (
    <Card
      as="section"
      className={styles.builder}
      title={title}
      header={
        <>
          {rule === null ? null : (
            <Minor>
              {rule.created_by === null
                ? texts.saved(formatDay(rule.updated_at))
                : texts.savedBy(formatDay(rule.updated_at), rule.created_by.name)}
            </Minor>
          )}
          <Spacer />
          {rule === null ? null : <RuleMenu rule={rule} mayWrite={may.allowed} />}
          <IconButton size="sm" look="ghost" icon="x" label={`${texts.close} (Esc)`} onClick={close} />
        </>
      }
    >
      <form
        ref={form}
        noValidate
        aria-label={title}
        onSubmit={(event) => {
          event.preventDefault()
          submit()
        }}
      >
        <fieldset className={styles.body} disabled={!may.allowed}>
          {may.allowed ? null : (
            <Note tone="plain" icon="lock">
              {may.why}
            </Note>
          )}
          {note}
          <FormRow>
            <Field
              label={texts.name}
              value={draft.name}
              maxLength={100}
              autoComplete="off"
              error={tried && draft.name.trim() === '' ? texts.nameMissing : undefined}
              onChange={(event) => change({ name: event.target.value })}
            />
            <SelectField
              label={texts.project}
              value={draft.projectId}
              disabled={rule !== null}
              error={tried && draft.projectId === '' ? texts.projectMissing : undefined}
              onChange={(event) => change({ projectId: event.target.value })}
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
            <TriggerCards name="trigger" chosen={draft.trigger} onChange={(trigger) => change({ trigger })} />
          </Step>
          <Step step="condition">
            <Conditions
              trigger={draft.trigger}
              draft={conditions}
              projectName={projectName ?? texts.yourProject}
              tried={tried}
              onChange={(next) => change({ conditions: { ...draft.conditions, [draft.trigger]: next } })}
            />
            <DryRun body={dryRunBody(draft)} hasProject={draft.projectId !== ''} />
          </Step>
          <Step step="channels">
            <Channels
              {...channels}
              label={texts.channels}
              actions={draft.actions}
              onChange={(actions) => change({ actions })}
            />
            {draft.actions.length === 0 ? <FieldHint>{texts.noChannels}</FieldHint> : null}
            <Quiet draft={draft} onChange={change} why={may.why} />
            <p className={styles.option}>
              {texts.escalating}
              <Switch
                label={texts.escalating}
                checked={draft.isEscalating}
                why={may.why}
                onChange={(isEscalating) => change({ isEscalating })}
              />
            </p>
            {draft.isEscalating ? (
              <Escalation draft={draft} tried={tried} onChange={change}>
                <Channels
                  {...channels}
                  label={texts.escalations}
                  actions={draft.escalations}
                  onChange={(escalations) => change({ escalations })}
                />
              </Escalation>
            ) : null}
          </Step>
          {badTests.size === 0 ? null : (
            <Note tone="amber" icon="warn" role="status">
              {texts.testWarning}
            </Note>
          )}
          {save.error === null ? null : (
            <Note tone="red" icon="warn" role="alert">
              {errorSentence(save.error, { name: texts.name, projectId: texts.project })}
            </Note>
          )}
          {tried && isIncomplete(draft) ? (
            <FieldHint role="alert" bad>
              <Icon name="warn" />
              {texts.incomplete}
            </FieldHint>
          ) : null}
        </fieldset>
        {may.allowed ? (
          <SaveFoot
            dirty={isDirty}
            busy={save.isPending}
            save={texts.save}
            always
            onSave={submit}
            onDiscard={() => {
              setDraft(start)
              setTried(false)
              save.reset()
            }}
          >
            {rule === null ? null : (
              <Button size="sm" look="danger" onClick={() => setDeleting(true)}>
                {texts.delete}
              </Button>
            )}
            <Button size="sm" onClick={close}>
              {appTexts.cancel}
            </Button>
          </SaveFoot>
        ) : null}
      </form>
      {isDeleting && rule !== null ? (
        <DeleteRule rule={rule} onDeleted={letGo} onClose={() => setDeleting(false)} />
      ) : null}
    </Card>
  )
}

const STEPS = [
  { step: 'when', key: '1' },
  { step: 'condition', key: '2' },
  { step: 'channels', key: '3' },
] as const
type StepName = (typeof STEPS)[number]['step']

/** Moves the focus to the first control of a step. */
function goTo(form: HTMLFormElement | null, step: StepName): void {
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
  OF_ISSUES.includes(trigger) ? texts.quiet.issue : trigger === 'critical_path' ? texts.quiet.path : texts.quiet.project

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

function RuleMenu({ rule, mayWrite }: { rule: AlertRule; mayWrite: boolean }) {
  const navigate = useNavigate()
  return (
    <>
      <Link className={classNames(styles.link, choiceStyles.underlines)} {...paths.alertHistory({ rule: rule.id })}>
        {texts.history}
      </Link>
      {mayWrite ? (
        <Menu
          label={texts.more}
          align="end"
          trigger={<IconButton size="sm" look="ghost" icon="more" label={texts.more} />}
          entries={[
            {
              label: texts.clone,
              icon: 'copy',
              onSelect: () => void navigate(paths.newAlertRule({ from: rule.id, project: rule.projectId })),
            },
          ]}
        />
      ) : null}
    </>
  )
}

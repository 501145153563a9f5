import { ErrorNote } from '../../forms/error-note.tsx'
import { Link, useNavigate } from '@tanstack/react-router'
import { useState, type ReactNode } from 'react'
import type { AlertRule } from '../../api/alert-queries.ts'
import { paths } from '../../address/paths.ts'
import { useCan } from '../../app/can.ts'
import { useFormModel } from '../../forms/form-model.ts'
import { SaveFoot } from '../../forms/save-foot.tsx'
import { UnsavedGuard, useUnsaved } from '../../forms/unsaved.tsx'
import { useKeys } from '../../app/keys.ts'
import { appTexts } from '../../app/texts.ts'
import { Button, IconButton } from '../../ui/button.tsx'
import { Card } from '../../ui/card.tsx'
import choiceStyles from '../../ui/choice.module.css'
import { classNames } from '../../ui/class-names.ts'
import { FieldHint } from '../../ui/field.tsx'
import { formatDay } from '../../ui/format.ts'
import { Icon } from '../../ui/icon.tsx'
import { Menu } from '../../ui/menu.tsx'
import { Note } from '../../ui/note.tsx'
import { Spacer } from '../../ui/stack.tsx'
import { Minor } from '../../ui/text.tsx'
import { builderTexts as texts } from './builder-texts.ts'
import { DeleteRule } from './delete-rule.tsx'
import { useFreshSecrets } from './fresh-secrets.tsx'
import { differ, isIncomplete, toRuleDraft, type RuleDraft } from './rule-draft.ts'
import { goToStep, RuleFields, STEPS } from './rule-fields.tsx'
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
  const [start, setStart] = useState(initial)
  const [badTests, setBadTests] = useState<ReadonlySet<string>>(new Set())
  const [isDeleting, setDeleting] = useState(false)
  const letGo = useUnsaved(false)
  const showSecrets = useFreshSecrets()
  const { draft, set, tried, error, form } = useFormModel({
    stored: start,
    save: useSaveRule(rule),
    draftOf: toRuleDraft,
    isSame: (one, other) => !may.allowed || !differ(one, other),
    isWhole: (sent) => !isIncomplete(sent),
    always: true,
    why: may.why,
    onSaved: (saved: AlertRule) => {
      setStart(toRuleDraft(saved))
      if (rule !== null) return showSecrets(saved)
      letGo()
      // The secret asks before the page is left, so it appears on the next one.
      void navigate({ ...paths.alertRule(saved.id), replace: true }).then(() => showSecrets(saved))
    },
  })
  const { formRef, ...foot } = form
  const onTested = (key: string, isGood: boolean) =>
    setBadTests((before) => new Set(isGood ? [...before].filter((one) => one !== key) : [...before, key]))
  const close = () => void navigate(paths.alertRules())
  useKeys([
    ...STEPS.map(({ step, key }) => ({
      keys: key,
      label: texts.goToStep[step],
      group: 'Page' as const,
      run: () => goToStep(formRef.current, step),
      sheetOnly: true,
    })),
    { keys: 'escape', label: texts.close, group: 'Page', run: close, sheetOnly: true },
  ])
  const title = rule === null ? texts.newTitle : may.allowed ? texts.editTitle : texts.viewTitle
  return (
    <Card
      as="section"
      className={styles.builder}
      title={title}
      header={
        <>
          {rule === null ? null : <SavedAt rule={rule} />}
          <Spacer />
          {rule === null ? null : <RuleMenu rule={rule} mayWrite={may.allowed} />}
          <IconButton size="sm" look="ghost" icon="x" label={`${texts.close} (Esc)`} onClick={close} />
        </>
      }
    >
      <form
        ref={formRef}
        noValidate
        aria-label={title}
        onSubmit={(event) => {
          event.preventDefault()
          foot.onSave()
        }}
      >
        <fieldset className={styles.body} disabled={!may.allowed}>
          {may.allowed ? null : (
            <Note tone="plain" icon="lock">
              {may.why}
            </Note>
          )}
          {note}
          <RuleFields rule={rule} draft={draft} tried={tried} why={may.why} onChange={set} onTested={onTested} />
          {badTests.size === 0 ? null : (
            <Note tone="amber" icon="warn" role="status">
              {texts.testWarning}
            </Note>
          )}
          <ErrorNote error={error} labels={{ name: texts.name, projectId: texts.project }} />
          {tried && isIncomplete(draft) ? (
            <FieldHint role="alert" bad>
              <Icon name="warn" />
              {texts.incomplete}
            </FieldHint>
          ) : null}
        </fieldset>
        {may.allowed ? (
          <SaveFoot {...foot} save={texts.save}>
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

const SavedAt = ({ rule }: { rule: AlertRule }) => (
  <Minor>
    {rule.created_by === null
      ? texts.saved(formatDay(rule.updated_at))
      : texts.savedBy(formatDay(rule.updated_at), rule.created_by.name)}
  </Minor>
)

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

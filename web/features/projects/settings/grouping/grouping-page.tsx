import { useMutation } from '@tanstack/react-query'
import type { ComponentType } from 'react'
import { call } from '../../../../api/call.ts'
import type { ProjectSettings } from '../../../../api/queries.ts'
import { Discards } from './discards.tsx'
import { GroupingPreview } from './preview.tsx'
import { GroupingVersion } from './version.tsx'
import {
  blankFingerprint,
  blankStack,
  draftFingerprint,
  draftStack,
  FingerprintRow,
  groupingRuleProblems,
  toGroupingRules,
  StackRow,
  type DraftFingerprint,
  type DraftStack,
  type RowProps,
} from './rule-rows.tsx'
import { ProjectPart } from '../project-part.tsx'
import { SettingsForm, useSettingsDraft } from '../form.tsx'
import { Button } from '../../../../ui/button.tsx'
import { Card } from '../../../../ui/card.tsx'
import { FieldHint } from '../../../../ui/field.tsx'
import { Spacer } from '../../../../ui/stack.tsx'
import { Minor } from '../../../../ui/text.tsx'
import { groupingTexts } from './texts.ts'
import settingsStyles from '../../../../frames/settings.module.css'
import fitStyles from '../../../../ui/fit.module.css'
import narrowStyles from '../../../../ui/narrow.module.css'
import styles from './grouping-page.module.css'

export const ProjectGroupingPage = () => (
  <ProjectPart title={groupingTexts.title} lead={groupingTexts.lead} heightPx={420}>
    {(project, why) => (
      <>
        <RulesForm key={project.id} project={project} why={why} />
        <GroupingVersion projectId={project.id} why={why} />
        <Discards projectId={project.id} />
      </>
    )}
  </ProjectPart>
)

type Draft = { fingerprint: readonly DraftFingerprint[]; stack: readonly DraftStack[] }

const draftOf = ({ grouping_rules: rules }: ProjectSettings): Draft => ({
  fingerprint: rules.fingerprint.map(draftFingerprint),
  stack: rules.stack.map(draftStack),
})

const patchOf = ({ fingerprint, stack }: Draft) => ({ grouping_rules: toGroupingRules(fingerprint, stack) })

const isWhole = ({ fingerprint, stack }: Draft): boolean =>
  [...fingerprint, ...stack].every((rule) => Object.keys(groupingRuleProblems(rule)).length === 0)

function RulesForm({ project, why }: { project: ProjectSettings; why: string | undefined }) {
  const preview = useMutation({
    mutationFn: (sent: Draft) =>
      call('POST /api/projects/:projectId/grouping/preview', {
        params: { projectId: project.id },
        body: patchOf(sent),
      }),
  })
  const { draft, set, tried, check, error, form } = useSettingsDraft(project, {
    draftOf,
    patchOf,
    isWhole,
    said: groupingTexts.saved,
    why,
    onChange: () => preview.reset(),
  })
  return (
    <SettingsForm name={groupingTexts.title} error={error} failed={groupingTexts.failed} form={form}>
      <Card
        title={groupingTexts.fingerprintRules}
        header={
          <>
            <Minor className={narrowStyles.hiddenAt600}>{groupingTexts.fingerprintMore}</Minor>
            <Spacer />
            <Button
              size="sm"
              icon="eye"
              busy={preview.isPending}
              why={why}
              onClick={() => {
                if (check()) preview.mutate(draft)
              }}
            >
              {groupingTexts.tryOut}
            </Button>
          </>
        }
      >
        <RuleList
          Row={FingerprintRow}
          rules={draft.fingerprint}
          blank={blankFingerprint}
          none={groupingTexts.noFingerprint}
          hint={`${groupingTexts.matchHint}. ${groupingTexts.fingerprintHint}.`}
          hits={preview.data?.fingerprint_rules}
          why={why}
          asked={tried}
          onChange={(fingerprint) => set({ fingerprint })}
        />
      </Card>
      {preview.data === undefined && preview.error === null ? null : (
        <Card title={groupingTexts.tryTitle}>
          <div className={settingsStyles.body}>
            <GroupingPreview preview={preview.data} error={preview.error} />
          </div>
        </Card>
      )}
      <Card
        title={groupingTexts.stackRules}
        header={<Minor className={narrowStyles.hiddenAt600}>{groupingTexts.stackMore}</Minor>}
      >
        <RuleList
          Row={StackRow}
          rules={draft.stack}
          blank={blankStack}
          none={groupingTexts.noStack}
          hint={groupingTexts.stackMatchHint}
          hits={preview.data?.stack_rules}
          why={why}
          asked={tried}
          onChange={(stack) => set({ stack })}
        />
      </Card>
    </SettingsForm>
  )
}

type RuleListProps<R> = Pick<RowProps<R>, 'why' | 'asked'> & {
  Row: ComponentType<RowProps<R>>
  rules: readonly R[]
  blank: () => R
  /** Stands in place of the rules when there are none. */
  none: string
  hint: string
  /** Events of each rule in the preview. */
  hits: readonly { readonly events: number }[] | undefined
  onChange: (rules: readonly R[]) => void
}

/** Rules in their order, and a button that adds one. */
function RuleList<R extends { key: string }>({
  Row,
  rules,
  blank,
  none,
  hint,
  hits,
  onChange,
  ...row
}: RuleListProps<R>) {
  return (
    <>
      {rules.length === 0 ? (
        <Minor as="p" className={fitStyles.inset12}>
          {none}
        </Minor>
      ) : null}
      {rules.map((rule, index) => (
        <Row
          {...row}
          key={rule.key}
          number={index + 1}
          rule={rule}
          hits={hits?.[index]?.events}
          onChange={(next) => onChange(rules.map((one) => (one.key === next.key ? next : one)))}
          onUp={index === 0 ? undefined : () => onChange(raised(rules, index))}
          onRemove={() => onChange(rules.filter((one) => one.key !== rule.key))}
        />
      ))}
      <div className={styles.add}>
        <Button size="sm" icon="plus" why={row.why} onClick={() => onChange([...rules, blank()])}>
          {groupingTexts.add}
        </Button>
        {rules.length === 0 ? null : <FieldHint>{hint}</FieldHint>}
      </div>
    </>
  )
}

/** Moves the rule at `index` one place up. */
const raised = <R,>(rules: readonly R[], index: number): R[] =>
  rules.map((one, at) => (at === index - 1 ? (rules[index] ?? one) : at === index ? (rules[index - 1] ?? one) : one))

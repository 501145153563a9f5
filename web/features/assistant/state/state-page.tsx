import { useQuery } from '@tanstack/react-query'
import { assistantQuery, type AssistantState } from '../../../api/assistant-queries.ts'
import { PageQuery } from '../../../frames/page-query.tsx'
import { SettingsHead } from '../../../frames/settings-frame.tsx'
import { SetupStatements } from '../../../subjects/assistant/setup-statements.tsx'
import { Card } from '../../../ui/card.tsx'
import fitStyles from '../../../ui/fit.module.css'
import { formatCount } from '../../../ui/format.ts'
import { KeyValues } from '../../../ui/key-values.tsx'
import { Minor } from '../../../ui/text.tsx'
import { assistantStateTexts as texts } from './texts.ts'

/** The model of the assistant, what was used of it, and its limits. An operator sets them in the environment. */
export function AssistantStatePage() {
  // Every question changes what was used.
  const state = useQuery({ ...assistantQuery, staleTime: 0 })
  return (
    <>
      <SettingsHead title={texts.title} of={null} lead={texts.lead} />
      <PageQuery query={state} what={texts.what} heightPx={420}>
        {(data) => <Body state={data} />}
      </PageQuery>
    </>
  )
}

function Body({ state }: { state: AssistantState }) {
  const { limits } = state
  return (
    <>
      <Card title={texts.model}>
        <Facts
          rows={[
            [texts.provider, texts.providers[state.provider]],
            [texts.model, state.model ?? texts.none],
            [texts.host, state.host ?? texts.nowhere],
            [texts.kept, state.keeps_texts ? texts.keptTexts : texts.keptSizes],
          ]}
        />
        <Minor as="p" className={fitStyles.inset12}>
          {state.provider === 'built_in' ? texts.builtInMore : texts.modelMore}
        </Minor>
      </Card>
      <Card title={texts.used}>
        <Facts
          rows={[
            [texts.today, usedText(state.today)],
            [texts.thisMonth, usedText(state.this_month)],
          ]}
        />
      </Card>
      <Card title={texts.limits}>
        <Facts
          rows={[
            [texts.perMinute, formatCount(limits.requests_per_minute)],
            [texts.perDay, limits.tokens_per_day === null ? texts.unlimited : formatCount(limits.tokens_per_day)],
            [texts.perMonth, limits.usd_per_month === null ? texts.unlimited : texts.usd(limits.usd_per_month)],
          ]}
        />
        <Minor as="p" className={fitStyles.inset12}>
          {texts.limitsMore}
        </Minor>
      </Card>
      <Card title={texts.queries}>
        {state.query.available ? (
          <Minor as="p" className={fitStyles.inset12}>
            {texts.queriesOn}
          </Minor>
        ) : (
          <SetupStatements query={state.query} />
        )}
      </Card>
    </>
  )
}

const usedText = ({ requests, input_tokens, output_tokens, cost_usd }: AssistantState['today']): string =>
  texts.usedText(formatCount(requests), formatCount(input_tokens), formatCount(output_tokens), texts.usd(cost_usd))

const Facts = ({ rows }: { rows: readonly (readonly [name: string, value: string])[] }) => (
  <KeyValues>
    {rows.map(([name, value]) => (
      <div key={name}>
        <dt>{name}</dt>
        <dd>{value}</dd>
      </div>
    ))}
  </KeyValues>
)

import { Button } from '../../../ui/button.tsx'
import { Card } from '../../../ui/card.tsx'
import { CodeBox } from '../../../ui/code-box.tsx'
import { CopyButton } from '../../../ui/copy-button.tsx'
import { EmptyState } from '../../../ui/empty-state.tsx'
import { Code, Json } from '../../../ui/highlight.tsx'
import { EXAMPLE_BODY } from './example-body.ts'
import { webhooksTexts } from './texts.ts'
import { VERIFY_SNIPPETS } from './verify-snippets.ts'
import styles from './no-endpoint.module.css'
import typeStyles from '../../../ui/type.module.css'

const texts = webhooksTexts.empty

/** Shown before the first endpoint: what is sent, and how a receiver checks it. */
export function NoEndpoint({ onAdd, onVerify }: { onAdd: () => void; onVerify: () => void }) {
  const [snippet] = VERIFY_SNIPPETS
  return (
    <Card aria-labelledby="h-first">
      <h2 className={typeStyles.hidden} id="h-first">
        {webhooksTexts.endpoints}
      </h2>
      <EmptyState
        kind="setup"
        title={texts.title}
        actions={
          <Button look="primary" icon="plus" onClick={onAdd}>
            {webhooksTexts.add}
          </Button>
        }
      >
        {texts.text}
      </EmptyState>
      <div className={styles.examples}>
        <CodeBox
          title={<span>{texts.body}</span>}
          action={<CopyButton text={EXAMPLE_BODY} said={texts.bodyCopied} look="ghost" size="sm" />}
        >
          {/* Focusable, so that keys can scroll it. */}
          {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex */}
          <pre role="region" aria-label={texts.body} tabIndex={0}>
            <code>
              <Json source={EXAMPLE_BODY} />
            </code>
          </pre>
        </CodeBox>
        {snippet === undefined ? null : (
          <CodeBox
            title={<span>{texts.verify(snippet.label)}</span>}
            action={
              <Button look="ghost" size="sm" onClick={onVerify}>
                {texts.languages}
              </Button>
            }
          >
            {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex */}
            <pre role="region" aria-label={texts.verify(snippet.label)} tabIndex={0}>
              <code>
                <Code source={snippet.code} />
              </code>
            </pre>
          </CodeBox>
        )}
      </div>
    </Card>
  )
}

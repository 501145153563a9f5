import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { paths } from '../../../address/paths.ts'
import { meQuery, type Project } from '../../../api/queries.ts'
import { Card, CardFooter } from '../../../ui/card.tsx'
import { CodeBox } from '../../../ui/code-box.tsx'
import { CopyButton } from '../../../ui/copy-button.tsx'
import { Stack } from '../../../ui/stack.tsx'
import { Minor } from '../../../ui/text.tsx'
import { writeCommands, writeEnvironment } from './model.ts'
import { symbolsTexts } from './texts.ts'
import styles from './symbols-page.module.css'

const texts = symbolsTexts.tools

/** The environment and the commands with which a build uploads by itself. */
export function BuildTools({ project }: { project: Pick<Project, 'slug' | 'platform'> }) {
  const org = useQuery(meQuery).data?.org.slug ?? ''
  const target = { origin: location.origin, org, project: project.slug, platform: project.platform }
  return (
    <Card title={texts.title}>
      <Stack className={styles.inside}>
        <Minor as="p">{texts.lead}</Minor>
        <Code title={texts.environment} code={writeEnvironment(target)} />
        <Code title={texts.lines} code={writeCommands(target)} />
      </Stack>
      <CardFooter>
        <Link {...paths.apiKeys()}>{texts.makeKey}</Link>
      </CardFooter>
    </Card>
  )
}

const Code = ({ title, code }: { title: string; code: string }) => (
  <CodeBox
    title={<span>{title}</span>}
    action={<CopyButton text={code} said={symbolsTexts.copied} look="ghost" size="sm" />}
  >
    {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex */}
    <pre role="region" aria-label={title} tabIndex={0}>
      <code>{code}</code>
    </pre>
  </CodeBox>
)

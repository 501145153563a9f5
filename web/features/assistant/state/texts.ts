/** Texts of the state of the assistant. */
export const assistantStateTexts = {
  title: 'Assistant',
  lead: 'Who words answers, what was used, and the limits of this organisation.',
  what: 'The assistant',
  model: 'Model',
  provider: 'Provider',
  providers: { built_in: 'Built-in analyst', openai: 'OpenAI-compatible', anthropic: 'Anthropic', ollama: 'Ollama' },
  none: 'none',
  host: 'Questions go to',
  nowhere: 'no other server',
  kept: 'The audit log keeps',
  keptTexts: 'questions and answers with their texts',
  keptSizes: 'sizes and costs, not the texts',
  builtInMore:
    'Answers follow rules, without a model. To use one, the operator sets AI_PROVIDER, AI_MODEL and AI_API_KEY in the environment of the service.',
  modelMore:
    'Faultline reads the facts with the permissions of who asks; the model only words them. Addresses and other personal values are removed before they are sent.',
  used: 'Used',
  today: 'Today (UTC)',
  thisMonth: 'This month (UTC)',
  usedText: (requests: string, input: string, output: string, cost: string) =>
    `${requests} requests, ${input} tokens in, ${output} tokens out, ${cost}`,
  usd: (amount: number) => `$${amount.toFixed(2)}`,
  limits: 'Limits of this organisation',
  perMinute: 'Requests per minute',
  perDay: 'Tokens per day',
  perMonth: 'Cost per month',
  unlimited: 'no limit',
  limitsMore:
    'The operator sets them in the environment of the service. Above a limit, answers come from the rules again.',
  queries: 'Questions as statements',
  queriesOn: 'On. Statements run read-only, with the filter of the project, for at most 3 s and 1,000 rows.',
} as const

import { expect, test } from 'vitest'
import { WrongUsage } from '../command.ts'
import { run as exportEvents } from './export.ts'
import { run as replay } from './replay.ts'
import { run as tail } from './tail.ts'

/** Refused before anything is requested or written. */
test.for<[typeof tail, string, RegExp]>([
  [exportEvents, '', /takes one argument/],
  [exportEvents, 'a b', /takes one argument/],
  [tail, 'a', /takes no argument/],
  [tail, '--from noon', /noon is no time/],
  [tail, '--from 2026-01-01 --after p', /takes --from or --after/],
  [tail, '--since 2026-01-01', /Unknown option '--since'/],
  [replay, '', /needs one of --file/],
  [replay, '--file a --url http://b', /needs one of --file/],
  [replay, '--nats nats://a', /needs --subject with --nats/],
  [replay, '--nats nats://a --subject all.>', /is no subject to publish to/],
  [replay, '--nats sqlite:a --subject b', /needs a URL such as nats:/],
  [replay, '--url ftp://b', /needs an http or https URL for --url/],
  [replay, '--file a --rate 0', /--rate takes a number above 0/],
])('%s of the arguments "%s" is answered with the usage', async ([command, args, message]) => {
  const refused = command(args === '' ? [] : args.split(' '), {})
  await expect(refused).rejects.toThrow(WrongUsage)
  await expect(refused).rejects.toThrow(message)
})

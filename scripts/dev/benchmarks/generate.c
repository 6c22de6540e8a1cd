/* generate DIRECTORY COUNT REVISION [SEED [PAGE [list|parse]]]
 *
 * Writes a query's answer page by page, as an org sends it: DIRECTORY/0.json, DIRECTORY/2000.json ... COUNT contacts of 12
 * fields and `attributes`, about 440 bytes each, the same bytes on every machine. They come in the order of their
 * LastModifiedDate, against which their Ids are random. One name in fifty needs care: quotes, backslashes, braces, emoji.
 * Revision 2 has the same Ids, every record edited, and one LastName in ten another. SEED (7) gives another order: what was
 * stored in one order is then edited in a random one. PAGE (2000) is the number of records a page. With `list` a page is the
 * bare array of its records, as a REST collection has it; with `parse` it is a page of a Parse server's class. */
#include "bench.h"

#include <errno.h>
#include <sys/stat.h>

static const char *const first_names[] = {"Ada",  "Bruno", "Chiara", "Deniz", "Elif",  "Farid", "Grace", "Hugo",
                                          "Ines", "Jonas", "Kavya",  "Lars",  "Malik", "Nadia", "Oscar", "Priya"};
static const char *const last_names[] = {
    "Abbott", "Becker",  "Castro", "Dubois", "Eriksen", "Fischer", "Gupta",  "Hansen",   "Ito",      "Jensen",
    "Kowalski", "Larsen", "Moreau", "Novak",  "Okafor",  "Petrov",  "Quinn",  "Romero",   "Schmidt",  "Tanaka",
    "Ueda",   "Vargas",  "Weber",  "Xu",     "Yilmaz",  "Zimmer",  "Andrade", "Baptiste", "Costa",    "Diaz"};
static const char *const endings[] = {"", "", "s", "-Vogel", "sen", "ova", "er", "-Kim"};
/* As JSON text: half of what is not ASCII comes escaped, as some servers send it. */
static const char *const odd_names[] = {"Gr\xc3\xbcn",          "Gr\\u00fcn",         "D\\\"Arc",
                                        "Slash\\\\Back",        "Tab\\tStop",         "\xe7\x8e\x8b\xe5\xb0\x8f\xe6\x98\x8e",
                                        "\\ud83d\\ude00 Grin",  "\xf0\x9f\x98\x80 Grin", "{Brace}, \\\"q\\\"]"};
static const char *const titles[] = {"VP, Sales", "Senior Buyer", "Account Lead", "CTO", "Head of {R&D}", "Clerk"};
static const char *const departments[] = {"Sales", "Engineering", "Finance", "Operations", "Human Resources", "Legal"};
static const char *const streets[] = {"Harbour Road, Unit 12", "Linden Avenue",  "Mill Street",
                                      "Rue des Lilas",         "Rua do S\xc3\xa3o Jo\xc3\xa3o", "Gartenstra\xc3\x9f" "e"};

#define PICK(list, state) ((list)[bench_random(state) % (sizeof(list) / sizeof *(list))])

/* splitmix64: one multiply-and-shift generator, seeded by the record's number. */
static uint64_t bench_random(uint64_t *state) {
  uint64_t z = (*state += 0x9e3779b97f4a7c15u);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

/* An 18-character record id: prefix, instance, number in base 62, and the check characters for its letter cases. */
static void make_id(char out[19], const char *prefix, uint64_t number) {
  static const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
  memcpy(out, prefix, 3);
  memcpy(out + 3, "Bn000", 5);
  for (int i = 14; i >= 8; i--, number /= 62) out[i] = digits[number % 62];
  for (int group = 0; group < 3; group++) {
    int bits = 0;
    for (int i = 0; i < 5; i++) bits |= (out[group * 5 + i] >= 'A' && out[group * 5 + i] <= 'Z') << i;
    out[15 + group] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ012345"[bits];
  }
  out[18] = 0;
}

static void make_date(char out[32], uint64_t seconds) {
  time_t t = (time_t)(1420070400 + seconds); /* from 2015 on */
  struct tm parts;
  gmtime_r(&t, &parts);
  strftime(out, 32, "%Y-%m-%dT%H:%M:%S.000+0000", &parts);
}

/* `number` says who it is, `rank` when it was last modified. */
static void append_record(bench_buffer *b, uint64_t number, uint64_t rank, int revision, uint64_t count, int is_parse) {
  uint64_t state = number * 0x2545f4914f6cdd1du;
  char id[19], account[19], date[32];
  make_id(id, "003", number);
  const char *first = PICK(first_names, &state);
  int is_odd = bench_random(&state) % 50 == 0;
  const char *last = is_odd ? PICK(odd_names, &state) : PICK(last_names, &state);
  const char *ending = is_odd ? "" : PICK(endings, &state);
  const char *title = PICK(titles, &state), *department = PICK(departments, &state);
  unsigned house = (unsigned)(bench_random(&state) % 9999) + 1;
  const char *street = PICK(streets, &state);
  uint64_t phone = bench_random(&state);
  make_id(account, "001", bench_random(&state) % (count / 10 + 1));
  unsigned score = (unsigned)(bench_random(&state) % 100000);
  int do_not_call = bench_random(&state) % 5 == 0;
  if (revision > 1 && bench_random(&state) % 10 == 0) ending = "-Married", last = PICK(last_names, &state);
  make_date(date, rank + count * (uint64_t)(revision - 1));

  if (is_parse) {
    strcpy(strchr(date, '+'), "Z");
    bench_appendf(b, "{\"objectId\":\"%s\",\"createdAt\":\"%s\",\"ACL\":{\"*\":{\"read\":true,\"write\":true}},", id, date);
    bench_appendf(b, "\"FirstName\":\"%s\",\"LastName\":\"%s%s\",", first, last, ending);
  } else {
    bench_appendf(b, "{\"attributes\":{\"type\":\"Contact\",\"url\":\"/services/data/v66.0/sobjects/Contact/%s\"},", id);
    bench_appendf(b, "\"Id\":\"%s\",\"FirstName\":\"%s\",\"LastName\":\"%s%s\",", id, first, last, ending);
  }
  bench_appendf(b, "\"Email\":\"%s.%llu@customer-example.com\",", first, (unsigned long long)number);
  if (phone % 10 == 0) bench_append_text(b, "\"Phone\":null,");
  else bench_appendf(b, "\"Phone\":\"(%03u) 555-%04u\",", (unsigned)(200 + phone / 10 % 700), (unsigned)(phone / 7000 % 10000));
  bench_appendf(b, "\"Title\":\"%s", title);
  if (revision > 1) bench_appendf(b, " (rev %d)", revision);
  bench_appendf(b, "\",\"Department\":\"%s\",\"MailingStreet\":\"%u %s\",", department, house, street);
  bench_appendf(b, "\"AccountId\":\"%s\",\"Score__c\":%u.%02u,\"DoNotCall\":%s,\"%s\":\"%s\"}", account,
                score / 100 + (unsigned)(revision - 1), score % 100, do_not_call ? "true" : "false",
                is_parse ? "updatedAt" : "LastModifiedDate", date);
}

static void write_file(const char *directory, uint64_t offset, const bench_buffer *b) {
  char path[4096];
  snprintf(path, sizeof path, "%s/%llu.json", directory, (unsigned long long)offset);
  FILE *file = fopen(path, "wb");
  if (!file || fwrite(b->bytes, 1, b->length, file) != b->length || fclose(file)) bench_die("cannot write %s", path);
}

/* The numbers 1...count in an order that looks random and is always the same. */
static uint32_t *shuffled(uint64_t count, uint64_t state) {
  uint32_t *order = bench_realloc(NULL, count * sizeof *order);
  for (uint64_t i = 0; i < count; i++) order[i] = (uint32_t)(i + 1);
  for (uint64_t i = count; i > 1; i--) {
    uint64_t j = bench_random(&state) % i;
    uint32_t swapped = order[i - 1];
    order[i - 1] = order[j];
    order[j] = swapped;
  }
  return order;
}

int main(int argc, char **argv) {
  if (argc < 4) bench_die("usage: generate DIRECTORY COUNT REVISION [SEED [PAGE [list|parse]]]");
  const uint64_t page = argc > 5 ? strtoull(argv[5], NULL, 10) : 2000;
  const int is_list = argc > 6 && strcmp(argv[6], "list") == 0;
  const int is_parse = argc > 6 && strcmp(argv[6], "parse") == 0, is_query = !is_list && !is_parse;
  uint64_t count = strtoull(argv[2], NULL, 10), seed = argc > 4 ? strtoull(argv[4], NULL, 10) : 7;
  int revision = atoi(argv[3]);
  if (revision < 1 || count > 10000000 || page < 1) bench_die("COUNT or REVISION is out of range");
  if (mkdir(argv[1], 0777) && errno != EEXIST) bench_die("cannot make %s", argv[1]);
  uint32_t *order = shuffled(count, seed);
  bench_buffer b = {0};
  unsigned long long bytes = 0;
  for (uint64_t offset = 0; offset == 0 || offset < count; offset += page) {
    int is_last = offset + page >= count;
    b.length = 0;
    if (is_query)
      bench_appendf(&b, "{\"totalSize\":%llu,\"done\":%s,", (unsigned long long)count, is_last ? "true" : "false");
    if (is_query && !is_last)
      bench_appendf(&b, "\"nextRecordsUrl\":\"/services/data/v66.0/query/01gBn0000000%03dAAA-%llu\",", revision,
                    (unsigned long long)(offset + page));
    bench_append_text(&b, is_list ? "[" : is_parse ? "{\"results\":[" : "\"records\":[");
    for (uint64_t i = offset; i < count && i < offset + page; i++) {
      if (i > offset) bench_append(&b, ",", 1);
      append_record(&b, order[i], i, revision, count, is_parse);
    }
    if (is_parse && offset == 0) bench_appendf(&b, "],\"count\":%llu}", (unsigned long long)count);
    else bench_append_text(&b, is_list ? "]" : "]}");
    write_file(argv[1], offset, &b);
    bytes += b.length;
  }
  printf("%llu records, %.1f MB, %.0f bytes a record\n", (unsigned long long)count, (double)bytes / 1e6,
         count ? (double)bytes / (double)count : 0.0);
  free(order);
  free(b.bytes);
  return 0;
}
